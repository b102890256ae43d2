// SPDX-License-Identifier: MIT
import CLibuv

/// Calls back on the loop while a descriptor that another library owns is ready to be read or written
/// (poll(2)). Stops when it is released.
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

/// Calls back on the loop whenever something changes in a directory: names that appear, disappear or are
/// replaced, and writes to files (inotify(7)). Stops when it is released; never keeps a loop running.
///
/// Several changes may cause one call, and one change several calls.
public final class DirectoryWatcher {
    private let handle = Handle<uv_fs_event_t>()
    private let onChange: () -> Void

    /// - Parameter path: an existing directory; links in the path are followed once, now.
    public init(on loop: EventLoop, path: String, _ onChange: @escaping () -> Void) throws(EventLoopError) {
        self.onChange = onChange
        uv_fs_event_init(loop.raw, handle.raw)
        handle.setOwner(self)
        uv_unref(handle.base)
        let status = uv_fs_event_start(
            handle.raw,
            { raw, _, _, _ in
                Handle<uv_fs_event_t>.owner(raw?.pointee.data, as: DirectoryWatcher.self)?.onChange()
            }, path, 0)
        try EventLoopError.check(status, "watch \(path)")
    }

    deinit { handle.close() }
}

/// Calls back on the loop for each signal with a given number. Stops when it is released; never keeps a loop running.
public final class SignalWatcher {
    private let handle = Handle<uv_signal_t>()
    private let onSignal: () -> Void

    public init(on loop: EventLoop, signal: Int32, _ onSignal: @escaping () -> Void) throws(EventLoopError) {
        self.onSignal = onSignal
        uv_signal_init(loop.raw, handle.raw)
        handle.setOwner(self)
        uv_unref(handle.base)
        let status = uv_signal_start(
            handle.raw, { raw, _ in Handle<uv_signal_t>.owner(raw?.pointee.data, as: SignalWatcher.self)?.onSignal() },
            signal)
        try EventLoopError.check(status, "watch for signal \(signal)")
    }

    deinit { handle.close() }
}

/// Calls back after a delay, once or repeatedly. Stops when it is released.
public final class Timer {
    private let handle = Handle<uv_timer_t>()
    private let onFire: () -> Void

    /// - Parameters:
    ///   - delay: the time until the first call, in milliseconds.
    ///   - interval: the time between further calls, in milliseconds; 0: none.
    public init(on loop: EventLoop, delay: UInt64, every interval: UInt64 = 0, _ onFire: @escaping () -> Void) {
        self.onFire = onFire
        uv_timer_init(loop.raw, handle.raw)
        handle.setOwner(self)
        uv_timer_start(
            handle.raw, { raw in Handle<uv_timer_t>.owner(raw?.pointee.data, as: Timer.self)?.onFire() },
            delay, interval)
    }

    /// Allows the loop to end although this timer is running.
    public func unreference() { uv_unref(handle.base) }

    deinit { handle.close() }
}

/// A libuv handle's memory, freed in its close callback and nowhere else (libuv, "The I/O loop").
///
/// Invariant: libuv initialises `raw` right after `init`, and it is used only until `close`. Its data pointer
/// refers, unretained, to the owner, and is nil after `close`.
struct Handle<Raw> {
    let raw: UnsafeMutablePointer<Raw>

    init() { raw = .allocate(capacity: 1) }

    var base: UnsafeMutablePointer<uv_handle_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_handle_t.self)
    }

    var stream: UnsafeMutablePointer<uv_stream_t> {
        UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    func setOwner(_ owner: AnyObject) { base.pointee.data = Unmanaged.passUnretained(owner).toOpaque() }

    func close() {
        base.pointee.data = nil
        uv_close(base) { handle in handle.map { UnsafeMutableRawPointer($0).deallocate() } }
    }

    /// Frees a handle that libuv never initialised.
    func discard() { raw.deallocate() }

    /// Returns the owner, in a callback.
    static func owner<Owner: AnyObject>(_ data: UnsafeMutableRawPointer?, as type: Owner.Type) -> Owner? {
        data.map { Unmanaged<Owner>.fromOpaque($0).takeUnretainedValue() }
    }
}
