// SPDX-License-Identifier: MIT
import CLibuv

/// Calls back after a delay, once or repeatedly. Stops when it is released.
public final class Timer {
    private let handle = Handle<uv_timer_t>()
    private let onFire: () -> Void

    /// - Parameters:
    ///   - delay: the time until the first call, in milliseconds.
    ///   - interval: the time between further calls, in milliseconds; 0: none.
    public init(on loop: EventLoop, delay: UInt64, every interval: UInt64 = 0, _ onFire: @escaping () -> Void)
    {
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
