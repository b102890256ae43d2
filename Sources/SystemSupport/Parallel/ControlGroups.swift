// SPDX-License-Identifier: MIT
import Glibc

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
