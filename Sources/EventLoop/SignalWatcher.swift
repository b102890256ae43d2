// SPDX-License-Identifier: MIT
import CLibuv

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
            handle.raw,
            { raw, _ in Handle<uv_signal_t>.owner(raw?.pointee.data, as: SignalWatcher.self)?.onSignal() },
            signal)
        try EventLoopError.check(status, "watch for signal \(signal)")
    }

    deinit { handle.close() }
}
