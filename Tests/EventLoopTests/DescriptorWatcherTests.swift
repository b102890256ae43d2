// SPDX-License-Identifier: MIT
import Glibc
import Testing

@testable import EventLoop

@Suite("Watchers of descriptors") struct DescriptorWatcherTests {
    /// Two connected sockets.
    private func pair() -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
        return (ends[0], ends[1])
    }

    @Test("A watcher reports the events that it waits for, and none after it stops") func reports() throws {
        let loop = try EventLoop()
        let (near, far) = pair()
        defer {
            close(near)
            close(far)
        }
        var seen: [DescriptorWatcher.Readiness] = []
        var watcher: DescriptorWatcher?
        watcher = try DescriptorWatcher(on: loop, descriptor: near) { ready in
            seen.append(ready)
            if seen.count == 1 {
                write(far, "x", 1)
                watcher?.watch(for: .readable)
            } else {
                watcher?.watch(for: [])
            }
        }
        watcher?.watch(for: .writable)
        loop.run()
        #expect(seen == [.writable, .readable])
        watcher = nil
    }

    @Test("the other side's end is readable; a released watcher lets the loop end")
    func ends() throws {
        let loop = try EventLoop()
        let (near, far) = pair()
        var count = 0
        var watcher: DescriptorWatcher?
        watcher = try DescriptorWatcher(on: loop, descriptor: near) { _ in
            count += 1
            watcher = nil
        }
        watcher?.watch(for: .readable)
        close(far)
        loop.run()
        close(near)
        #expect(count == 1)
    }

    @Test("A descriptor that is not open is an error") func refuses() throws {
        let loop = try EventLoop()
        #expect(throws: EventLoopError.self) {
            _ = try DescriptorWatcher(on: loop, descriptor: 9999) { _ in }
        }
    }
}
