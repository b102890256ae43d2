// SPDX-License-Identifier: MIT
import CLibuv

/// Calls back on the loop while a descriptor that another library owns is ready to be read or written (poll(2)).
/// Stops when it is released.
///
/// The descriptor must stay open until the watcher has stopped or is released; it is never closed here.
public final class DescriptorWatcher {
    /// The events for which the watcher waits, and for which the descriptor is ready.
    public struct Readiness: OptionSet, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        public static let readable = Readiness(rawValue: Int32(UV_READABLE.rawValue))
        public static let writable = Readiness(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private let handle = Handle<uv_poll_t>()
    private let onReady: (Readiness) -> Void
    /// The events for which it currently waits; empty: none.
    public private(set) var interest: Readiness = []

    /// Makes a watcher that waits for nothing until `watch`.
    ///
    /// - Parameter onReady: called with the descriptor's readiness. A descriptor with an error is reported as
    ///   ready for everything that is waited for: the next read or write reports the error.
    public init(
        on loop: EventLoop, descriptor: Int32, _ onReady: @escaping (Readiness) -> Void
    ) throws(EventLoopError) {
        self.onReady = onReady
        let status = uv_poll_init(loop.raw, handle.raw, descriptor)
        if status < 0 {
            handle.discard()
            isOpen = false
        } else {
            handle.setOwner(self)
        }
        try EventLoopError.check(status, "watch descriptor \(descriptor)")
    }

    private var isOpen = true

    /// Waits for these events from now on; for nothing if empty.
    public func watch(for interest: Readiness) {
        guard interest != self.interest else { return }
        self.interest = interest
        guard !interest.isEmpty else {
            uv_poll_stop(handle.raw)
            return
        }
        uv_poll_start(handle.raw, interest.rawValue) { raw, status, events in
            guard let watcher = Handle<uv_poll_t>.owner(raw?.pointee.data, as: DescriptorWatcher.self)
            else { return }
            watcher.onReady(status < 0 ? watcher.interest : Readiness(rawValue: events))
        }
    }

    deinit { if isOpen { handle.close() } }
}
