// SPDX-License-Identifier: MIT
import Dispatch
import Glibc
import Synchronization

/// The output of the log. If its reader stops reading, lines wait, up to a limit; after that they are dropped
/// and counted. Safe from any thread; never waits.
final class LogOutput: Sendable {
    private struct State {
        /// Bytes of lines that are waiting for the reader.
        var waiting = 0
        var dropped = 0
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "clusterd.log")

    /// The maximum number of waiting bytes.
    private static let mostWaiting = 1 << 20
    /// A writable pipe accepts this many bytes without blocking (PIPE_BUF, pipe(7)).
    private static let atOnce = 4096

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameter line: the line, including its line break.
    func write(_ line: String) {
        let bytes = Array(line.utf8)
        let mustWait = state.withLock { state -> Bool in
            if state.waiting == 0, bytes.count <= Self.atOnce, isWritable {
                write(bytes)
                return false
            }
            guard state.waiting + bytes.count <= Self.mostWaiting else {
                state.dropped += 1
                return false
            }
            state.waiting += bytes.count
            return true
        }
        guard mustWait else { return }
        queue.async { [self] in
            write(bytes)
            let dropped = state.withLock { state -> Int in
                state.waiting -= bytes.count
                guard state.waiting == 0 else { return 0 }
                defer { state.dropped = 0 }
                return state.dropped
            }
            if dropped > 0 { write(Array("clusterd: \(dropped) lines of the log were dropped\n".utf8)) }
        }
    }

    /// Waits until the waiting lines have been read, but no longer than the given time.
    func flush(milliseconds: Int) {
        let group = DispatchGroup()
        queue.async(group: group) {}
        _ = group.wait(timeout: .now() + .milliseconds(milliseconds))
    }

    private var isWritable: Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&state, 1, 0) > 0
    }

    private func write(_ bytes: [UInt8]) { _ = Glibc.write(descriptor, bytes, bytes.count) }
}
