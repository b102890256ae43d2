// SPDX-License-Identifier: MIT
import Glibc

/// The number of processors that this process may use: as many as its affinity allows, but not more than its control
/// group's quota of time corresponds to.
public enum AvailableProcessors {
    /// The number, read once at the first use; 1 or more.
    public static let count = count(below: "")

    /// - Parameter root: the directory to use as the system's `/`.
    package static func count(below root: String) -> Int {
        max(1, min(affinity(below: root) ?? .max, quota(below: root) ?? .max, online))
    }

    private static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The number of processors in this process's affinity mask; nil if unknown. The same mask as
    /// that of sched_getaffinity(2), which Swift's Glibc module does not contain.
    private static func affinity(below root: String) -> Int? {
        let key = "Cpus_allowed:"
        let lines = ControlGroups.text(of: root + "/proc/self/status")?.split(separator: "\n") ?? []
        guard let mask = lines.first(where: { $0.hasPrefix(key) })?.dropFirst(key.count) else { return nil }
        let count = mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }

    /// The control group's quota in processors, rounded up; nil if there is no limit.
    private static func quota(below root: String) -> Int? {
        let groups = ControlGroups("cpu", below: root)
        return (groups.unified.compactMap(unifiedLimit) + groups.separate.compactMap(separateLimit)).min()
    }

    /// Version 2: "max 100000" or "150000 100000", the time in each period.
    private static func unifiedLimit(_ group: String) -> Int? {
        let words = ControlGroups.text(of: group + "/cpu.max")?.split { $0 == " " || $0 == "\n" } ?? []
        guard words.count == 2, let time = Int(words[0]), let period = Int(words[1]) else { return nil }
        return processors(time, period)
    }

    /// Version 1: -1 for no limit.
    private static func separateLimit(_ group: String) -> Int? {
        guard let time = ControlGroups.number(in: group + "/cpu.cfs_quota_us"),
            let period = ControlGroups.number(in: group + "/cpu.cfs_period_us")
        else { return nil }
        return processors(time, period)
    }

    private static func processors(_ time: Int, _ period: Int) -> Int? {
        time > 0 && period > 0 ? max(1, (time - 1) / period + 1) : nil
    }
}
