// SPDX-License-Identifier: MIT
import CLibuv

/// Calls back after a while, once or again and again. Stops when it is let go of.
public final class Timer {
    private let handle = Handle<uv_timer_t>()
    private let onFire: () -> Void

    /// - Parameters:
    ///   - delay: until the first call, in milliseconds.
    ///   - interval: between further calls, in milliseconds; 0: there are none.
    public init(on loop: EventLoop, delay: UInt64, every interval: UInt64 = 0, _ onFire: @escaping () -> Void)
    {
        self.onFire = onFire
        uv_timer_init(loop.raw, handle.raw)
        handle.setOwner(self)
        uv_timer_start(
            handle.raw, { raw in Handle<uv_timer_t>.owner(raw?.pointee.data, as: Timer.self)?.onFire() },
            delay, interval)
    }

    /// Lets the loop end although this timer runs.
    public func unreference() { uv_unref(handle.base) }

    deinit { handle.close() }
}
