// SPDX-License-Identifier: MIT
import CLibuv

/// Calls back each time the loop has called back for all sockets that were ready. Stops when it is released;
/// never keeps a loop running.
public final class IterationEnd {
    private let handle = Handle<uv_check_t>()
    private let onEnd: () -> Void

    public init(on loop: EventLoop, _ onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        uv_check_init(loop.raw, handle.raw)
        handle.setOwner(self)
        uv_check_start(handle.raw) { raw in
            Handle<uv_check_t>.owner(raw?.pointee.data, as: IterationEnd.self)?.onEnd()
        }
        uv_unref(handle.base)
    }

    deinit { handle.close() }
}
