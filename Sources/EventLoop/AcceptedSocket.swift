// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// A connected socket that no loop watches yet. Safe from any thread; closed when this object is released, unless
/// a connection has taken it.
public final class AcceptedSocket: Sendable {
    /// -1 once taken.
    private let descriptor: Atomic<Int32>

    init(_ descriptor: Int32) { self.descriptor = Atomic(descriptor) }

    func take() -> Int32 { descriptor.exchange(-1, ordering: .acquiringAndReleasing) }

    deinit {
        let left = take()
        if left >= 0 { close(left) }
    }
}

extension Connection {
    /// Makes a loop's connection from an accepted socket; nil if the system refuses it, in which case the socket
    /// is closed.
    public convenience init?(on loop: EventLoop, taking socket: AcceptedSocket) {
        self.init(on: loop)
        guard adopt(socket.take()) else {
            close()
            return nil
        }
    }
}
