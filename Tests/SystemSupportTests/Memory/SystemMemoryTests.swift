// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import SystemSupport

@Suite("Memory of the system") struct SystemMemoryTests {
    /// What is read below a directory that stands for `/`, with these files.
    private func system(_ files: [String: String]) throws -> SystemMemory.Use? {
        let root = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString.prefix(12))"
        defer { try? FileManager.default.removeItem(atPath: root) }
        for (name, text) in files {
            let url = URL(fileURLWithPath: root + name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return SystemMemory(below: root).use
    }

    @Test("the group with the least room counts, without memory that the kernel can reclaim") func unified() throws {
        let use = try system([
            "/proc/self/cgroup": "0::/system.slice/clusterd.service\n", "/sys/fs/cgroup/memory.max": "max\n",
            "/sys/fs/cgroup/system.slice/memory.max": "1000000\n",
            "/sys/fs/cgroup/system.slice/memory.stat": "anon 950000\nfile 40000\nshmem 10000\n",
            "/sys/fs/cgroup/system.slice/clusterd.service/memory.max": "500000\n",
            "/sys/fs/cgroup/system.slice/clusterd.service/memory.stat": "anon 300000\nfile 199000\n",
        ])
        #expect(use == SystemMemory.Use(limit: 1_000_000, used: 960_000))
        #expect(use?.room == 40_000)
    }

    @Test("groups of version 1") func separate() throws {
        let use = try system([
            "/proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/a\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "700\n",
            "/sys/fs/cgroup/memory/a/memory.stat": "cache 500\nrss 1\ntotal_rss 800\ntotal_shmem 1\n",
        ])
        #expect(use == SystemMemory.Use(limit: 700, used: 801))
        #expect(use?.room == 0)
    }

    @Test("without a limit there is no result") func unlimited() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        let use = try system(["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"])
        #expect((use == nil) == (Int(exactly: limit.rlim_cur) == nil))
    }
}
