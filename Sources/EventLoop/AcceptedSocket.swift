// SPDX-License-Identifier: MIT
import Glibc
import Synchronization

/// A connected socket that no loop watches yet. Safe from any thread; closed with this object unless a
/// connection has taken it over.
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
    /// A connection of a loop on a socket that was accepted; nil if the system refuses it, and the socket
    /// is closed.
    public convenience init?(on loop: EventLoop, taking socket: AcceptedSocket) {
        self.init(on: loop)
        guard adopt(socket.take()) else {
            close()
            return nil
        }
    }
}
