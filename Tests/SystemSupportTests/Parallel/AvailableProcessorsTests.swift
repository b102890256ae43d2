// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("The processors that a process may use") struct AvailableProcessorsTests {
    private let online = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// A folder with the files that the system would have.
    private func count(_ files: [String: String]) throws -> Int {
        let root = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: root) }
        for (path, text) in files {
            let url = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return AvailableProcessors.count(below: root)
    }

    @Test("are those of the machine if nothing limits them") func machine() throws {
        #expect(try count([:]) == online)
        #expect(
            try count([
                "/proc/self/status":
                    "Name:\tclusterd\nCpus_allowed:\tffffffff,ffffffff\nCpus_allowed_list:\t0-63\n",
                "/proc/self/cgroup": "0::/system.slice\n",
                "/sys/fs/cgroup/system.slice/cpu.max": "max 100000\n",
            ]) == online)
    }

    @Test("follow the affinity", arguments: [("1", 1), ("00000002", 1), ("3", 2), ("0", .max), ("x", .max)])
    func affinity(_ mask: String, _ expected: Int) throws {
        #expect(try count(["/proc/self/status": "Cpus_allowed:\t\(mask)\n"]) == min(expected, online))
    }

    @Test(
        "follow the quota of a control group, version 2, and of those above it",
        arguments: [
            ("100000 100000", "max 100000", 1), ("150000 100000", "max 100000", 2),
            ("5000 100000", "max 1", 1),
            ("max 100000", "100000 100000", 1), ("800000 100000", "200000 100000", 2),
            ("0 100000", "nonsense", .max),
        ])
    func quota(_ own: String, _ above: String, _ expected: Int) throws {
        let processors = try count([
            "/proc/self/cgroup": "0::/system.slice/clusterd.service\n",
            "/sys/fs/cgroup/system.slice/clusterd.service/cpu.max": own + "\n",
            "/sys/fs/cgroup/system.slice/cpu.max": above + "\n",
        ])
        #expect(processors == min(expected, online))
    }

    @Test("follow the quota within a container, whose own path the system does not show") func container() throws {
        #expect(
            try count(["/proc/self/cgroup": "0::/docker/0123\n", "/sys/fs/cgroup/cpu.max": "100000 100000\n"]) == 1)
    }

    @Test("follow the quota of a control group, version 1", arguments: [("100000", "cpu,cpuacct"), ("50000", "cpu")])
    func separateQuota(_ quota: String, _ controllers: String) throws {
        #expect(
            try count([
                "/proc/self/cgroup": "4:memory:/a\n3:\(controllers):/a/b\n",
                "/sys/fs/cgroup/\(controllers)/a/b/cpu.cfs_quota_us": quota + "\n",
                "/sys/fs/cgroup/\(controllers)/a/b/cpu.cfs_period_us": "100000\n",
                "/sys/fs/cgroup/\(controllers)/cpu.cfs_quota_us": "-1\n",
            ]) == 1)
        #expect(
            try count([
                "/proc/self/cgroup": "3:\(controllers):/\n", "/sys/fs/cgroup/\(controllers)/cpu.cfs_quota_us": "-1\n",
                "/sys/fs/cgroup/\(controllers)/cpu.cfs_period_us": "100000\n",
            ]) == online)
    }
}
