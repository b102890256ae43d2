// SPDX-License-Identifier: MIT
import Glibc

/// The memory that the system lets this process have: by the limit of its address space (setrlimit(2), RLIMIT_AS) and
/// by the limits of its control groups. Past the first, an allocation fails, and Swift's end the process; past the
/// second, the kernel ends it.
package struct SystemMemory: Sendable {
    /// What may be used, and what is, in bytes.
    package struct Use: Sendable, Equatable {
        package let limit: Int
        package let used: Int
        package var room: Int { max(0, limit - used) }
    }

    private struct Group: Sendable {
        let limit: Int
        let directory: String
        /// The lines of `memory.stat` that count: what the kernel can't take back by itself.
        let lines: [String]
    }

    /// This process's. Limits of control groups are those at the first use.
    package static let process = SystemMemory(below: "")

    private let root: String
    private let groups: [Group]

    /// - Parameter root: the directory that stands for the system's `/`.
    package init(below root: String) {
        self.root = root
        let found = ControlGroups("memory", below: root)
        // Version 2 says "max" if there is no limit, version 1 the greatest number of pages.
        groups =
            found.unified.compactMap {
                Self.group($0, "memory.max", ["anon", "shmem", "slab_unreclaimable"])
            }
            + found.separate.compactMap {
                Self.group($0, "memory.limit_in_bytes", ["total_rss", "total_shmem"])
            }
    }

    private static func group(_ directory: String, _ file: String, _ lines: [String]) -> Group? {
        guard let limit = ControlGroups.number(in: directory + "/" + file), limit < 1 << 60 else {
            return nil
        }
        return Group(limit: limit, directory: directory, lines: lines)
    }

    /// Whether the address space has a limit.
    package var hasAddressLimit: Bool { addressLimit != nil }

    /// The limit with the least room; nil if there is none. Reads some files of the kernel's, in about 20 microseconds.
    package var use: Use? {
        var uses = groups.map { Use(limit: $0.limit, used: Self.used($0)) }
        if let limit = addressLimit { uses.append(Use(limit: limit, used: addressSpace)) }
        return uses.min { $0.room < $1.room }
    }

    private var addressLimit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }

    /// The pages that are mapped, whether or not they are in use (proc(5), statm).
    private var addressSpace: Int {
        (ControlGroups.number(in: root + "/proc/self/statm") ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    private static func used(_ group: Group) -> Int {
        let text = ControlGroups.text(of: group.directory + "/memory.stat") ?? ""
        return text.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count == 2, group.lines.contains(String(words[0])) else { return sum }
            return sum + (Int(words[1]) ?? 0)
        }
    }
}
