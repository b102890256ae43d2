// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import EventLoop

@Suite("Directory watcher") struct DirectoryWatcherTests {
    @Test("reports names that appear or are replaced") func reportsAddedAndReplacedNames() throws {
        let folder = NSTemporaryDirectory() + "clusterd-" + UUID().uuidString.prefix(12)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let loop = try EventLoop()
        var seen = 0
        let watcher = try DirectoryWatcher(on: loop, path: folder) {
            seen += 1
            if seen == 1 {
                try? Data("b".utf8).write(to: URL(fileURLWithPath: folder + "/b"))
                rename(folder + "/b", folder + "/a")
            }
        }
        // Fails if nothing is reported; otherwise it is never waited for.
        let limit = Timer(on: loop, delay: 30_000) { loop.stop() }
        let write = Timer(on: loop, delay: 1) { try? Data("a".utf8).write(to: URL(fileURLWithPath: folder + "/a")) }
        let look = Timer(on: loop, delay: 5, every: 5) { if seen > 2 { loop.stop() } }
        loop.run()
        #expect(seen > 2)
        withExtendedLifetime((watcher, limit, write, look)) {}
    }

    @Test("a missing directory is an error") func refusesMissingDirectory() throws {
        let loop = try EventLoop()
        #expect(throws: EventLoopError.self) { try DirectoryWatcher(on: loop, path: "/no/such/directory") {} }
    }

    @Test("reports nothing after its end, and does not keep the loop running") func isSilentAfterEnd() throws {
        let loop = try EventLoop()
        var watcher: DirectoryWatcher? = try DirectoryWatcher(on: loop, path: NSTemporaryDirectory()) {
            Issue.record("it goes on")
        }
        #expect(watcher != nil)
        watcher = nil
        loop.run()
        let other = try DirectoryWatcher(on: loop, path: "/proc/self") {}
        loop.run()
        withExtendedLifetime(other) {}
    }
}
