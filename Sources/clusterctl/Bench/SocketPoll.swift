// SPDX-License-Identifier: MIT
import CEpoll
import ClusterClient
import Glibc

/// Waits for many sockets, at a cost of those that are ready (epoll(7)); what poll(2) costs for all that are not
/// would be the peer's loss who answers few at a time.
///
/// Invariant: `descriptor` is an epoll's that only this object closes.
final class SocketPoll {
    private let descriptor: Int32
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    init() throws {
        descriptor = epoll_create1(0)
        guard descriptor >= 0 else { throw FeatureInputError(name: "epoll", number: errno) }
    }

    deinit { close(descriptor) }

    /// Waits for a socket from now on, under a number that `wait` tells.
    func add(_ socket: Int32, number: Int) throws {
        guard control(EPOLL_CTL_ADD, socket, number, EPOLLIN.rawValue) else {
            throw FeatureInputError(name: "epoll", number: errno)
        }
    }

    /// Whether to wait for room to write, too.
    func waitToWrite(_ waits: Bool, _ socket: Int32, number: Int) {
        _ = control(EPOLL_CTL_MOD, socket, number, EPOLLIN.rawValue | (waits ? EPOLLOUT.rawValue : 0))
    }

    /// Waits for a socket no more.
    func remove(_ socket: Int32) { _ = control(EPOLL_CTL_DEL, socket, 0, 0) }

    private func control(_ action: Int32, _ socket: Int32, _ number: Int, _ wanted: UInt32) -> Bool {
        var event = epoll_event()
        event.events = wanted
        event.data.u64 = UInt64(truncatingIfNeeded: number)
        return epoll_ctl(descriptor, action, socket, &event) == 0
    }

    /// Waits at most so long until a socket is ready, and calls `body` with the number of each that is.
    func wait(milliseconds: Int32, _ body: (Int) -> Void) {
        let count = epoll_wait(descriptor, &events, Int32(events.count), milliseconds)
        for place in 0..<max(0, Int(count)) { body(Int(truncatingIfNeeded: events[place].data.u64)) }
    }
}
