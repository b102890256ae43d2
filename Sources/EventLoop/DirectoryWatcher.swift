// SPDX-License-Identifier: MIT
import CLibuv

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
