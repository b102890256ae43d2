// SPDX-License-Identifier: MIT
import CLinux
import Glibc

/// The system's limits on this process's memory: the limit of its address space (setrlimit(2), RLIMIT_AS) and
/// the limits of its control groups. Beyond the first, an allocation fails, and Swift ends the process. Beyond the
/// second, the kernel kills it.
package struct SystemMemory: Sendable {
    /// The limit and the current use, in bytes.
    package struct Use: Sendable, Equatable {
        package let limit: Int
        package let used: Int
        package var room: Int { max(0, limit - used) }
    }

    private struct Group: Sendable {
        let limit: Int
        let directory: String
        /// The lines of `memory.stat` to count: memory that the kernel cannot reclaim by itself.
        let lines: [String]
    }

    /// The limits of this process. Those of control groups are read once, at the first use.
    package static let process = SystemMemory(below: "")

    private let root: String
    private let groups: [Group]

    /// - Parameter root: the directory to use as the system's `/`.
    package init(below root: String) {
        self.root = root
        let found = ControlGroups("memory", below: root)
        // Without a limit, version 2 contains "max", and version 1 the highest number of pages.
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

    /// The limit with the least memory left; nil if there is no limit. Reads some kernel files, in about 20
    /// microseconds.
    package var use: Use? {
        var uses = groups.map { Use(limit: $0.limit, used: Self.used($0)) }
        if let limit = addressLimit { uses.append(Use(limit: limit, used: addressSpace)) }
        return uses.min { $0.room < $1.room }
    }

    /// The memory in bytes that the machine can give programs without swapping (proc(5), meminfo, MemAvailable); nil if
    /// the kernel does not say.
    package var available: Int? {
        let lines = ControlGroups.text(of: root + "/proc/meminfo")?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix("MemAvailable:") }
        guard let words = line?.split(separator: " "), words.count >= 2 else { return nil }
        return Int(words[1]).map { $0 * 1024 }
    }

    private var addressLimit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }

    /// The mapped memory in bytes, whether or not it is in use (proc(5), statm).
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

/// The C library's allocator, as a long-lived process needs it.
package enum Allocator {
    /// Makes blocks from a given size return to the system as soon as they are freed, however large earlier
    /// blocks were (mallopt(3), M_MMAP_THRESHOLD). Applies to the whole process; call it at the start.
    package static func giveBackBlocks(from bytes: Int32) { mallopt(M_MMAP_THRESHOLD, bytes) }

    /// Makes all threads share a few arenas (mallopt(3), M_ARENA_MAX), because each reserves 64 MiB of address
    /// space. For a process whose address space is limited; call it at the start.
    package static func shareArenas() { mallopt(arenaMaximum, 2) }

    /// M_ARENA_MAX, which Swift does not import.
    private static let arenaMaximum: Int32 = -8

    /// Returns free memory to the system, including that of small blocks (malloc_trim(3)). Builds allocate and free on
    /// several threads; glibc keeps what each thread has freed for that thread's next allocations, which may never
    /// happen. Takes milliseconds per hundred megabytes, so call it on the pool.
    package static func trim() { malloc_trim(0) }
}

/// The control groups of this process (cgroups(7)). A group's limit also applies to all groups below it.
struct ControlGroups {
    /// The directories of the groups in the hierarchy of version 2, the process's own first.
    let unified: [String]
    /// The same in the hierarchy of version 1 with the controller.
    let separate: [String]

    /// - Parameters:
    ///   - controller: such as `cpu`.
    ///   - root: the directory to use as the system's `/`.
    init(_ controller: String, below root: String) {
        var (unified, separate): ([String], [String]) = ([], [])
        for line in (Self.text(of: root + "/proc/self/cgroup") ?? "").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let mount = root + "/sys/fs/cgroup"
            if parts[1].isEmpty {
                unified += Self.groups(parts[2]).map { mount + $0 }
            } else if parts[1].split(separator: ",").contains(Substring(controller)) {
                let groups = Self.groups(parts[2])
                separate += ["/" + controller, "/" + parts[1]].flatMap { name in
                    groups.map { mount + name + $0 }
                }
            }
        }
        (self.unified, self.separate) = (unified, separate)
    }

    /// The paths of a group and its ancestors. In a container only the last one, the root's, may exist.
    private static func groups(_ path: Substring) -> [String] {
        var names = path.split(separator: "/")
        var paths: [String] = []
        while true {
            paths.append(names.map { "/" + $0 }.joined())
            if names.popLast() == nil { return paths }
        }
    }

    /// The number at the beginning of a file; nil if there is none.
    static func number(in path: String) -> Int? {
        text(of: path)?.split { $0 == "\n" || $0 == " " }.first.flatMap { Int($0) }
    }

    /// The text of a small kernel file; nil if it cannot be read.
    static func text(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}
