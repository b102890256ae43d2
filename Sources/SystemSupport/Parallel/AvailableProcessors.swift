// SPDX-License-Identifier: MIT
import Glibc

/// How many processors this process may use: as many as its affinity allows, but not more than its control group's
/// share of time is worth.
public enum AvailableProcessors {
    /// The number at the first use; 1 or more.
    public static let count = count(below: "")

    /// - Parameter root: the directory that stands for the system's `/`.
    package static func count(below root: String) -> Int {
        max(1, min(affinity(below: root) ?? .max, quota(below: root) ?? .max, online))
    }

    private static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The processors that the scheduler may run this process on; nil if the system does not say. The same mask as
    /// sched_getaffinity(2) gives, which Swift's module of the C library leaves out.
    private static func affinity(below root: String) -> Int? {
        let key = "Cpus_allowed:"
        let lines = text(of: root + "/proc/self/status")?.split(separator: "\n") ?? []
        guard let mask = lines.first(where: { $0.hasPrefix(key) })?.dropFirst(key.count) else { return nil }
        let count = mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }

    /// The processors that the control group's time is worth, rounded up; nil if it has no limit. A group's limit holds
    /// for all groups below it too.
    private static func quota(below root: String) -> Int? {
        let text = text(of: root + "/proc/self/cgroup") ?? ""
        let limits = text.split(separator: "\n").flatMap { line -> [Int] in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [] }
            if parts[1].isEmpty {
                return groups(parts[2]).compactMap { unifiedLimit(root + "/sys/fs/cgroup" + $0) }
            }
            guard parts[1].split(separator: ",").contains("cpu") else { return [] }
            return ["/cpu", "/" + parts[1]].flatMap { mount in
                groups(parts[2]).compactMap { separateLimit(root + "/sys/fs/cgroup" + mount + $0) }
            }
        }
        return limits.min()
    }

    /// A group's path and those of all that it is below; within a container only the last, the root's, may exist.
    private static func groups(_ path: Substring) -> [String] {
        var names = path.split(separator: "/")
        var paths: [String] = []
        while true {
            paths.append(names.map { "/" + $0 }.joined())
            if names.popLast() == nil { return paths }
        }
    }

    /// Version 2: "max 100000" or "150000 100000", the time in each period.
    private static func unifiedLimit(_ group: String) -> Int? {
        let words = text(of: group + "/cpu.max")?.split { $0 == " " || $0 == "\n" } ?? []
        guard words.count == 2, let time = Int(words[0]), let period = Int(words[1]) else { return nil }
        return processors(time, period)
    }

    /// Version 1: -1 for no limit.
    private static func separateLimit(_ group: String) -> Int? {
        guard let time = number(in: group + "/cpu.cfs_quota_us"),
            let period = number(in: group + "/cpu.cfs_period_us")
        else { return nil }
        return processors(time, period)
    }

    private static func processors(_ time: Int, _ period: Int) -> Int? {
        time > 0 && period > 0 ? max(1, (time - 1) / period + 1) : nil
    }

    private static func number(in path: String) -> Int? {
        text(of: path)?.split(separator: "\n").first.flatMap { Int($0) }
    }

    private static func text(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
    }
}
