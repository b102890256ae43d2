// SPDX-License-Identifier: MIT
import Glibc

/// A thread of its own for a loop. The loop, and all that belongs to it, is made before and used by that
/// thread only until `join` has returned.
///
/// Invariant: `thread` is a thread that was started by `init` and is joined once.
public final class LoopThread {
    private let loop: EventLoop
    private var thread = pthread_t()
    private var isJoined = false

    /// Starts the thread, on which the loop runs until it is stopped, whether it has anything to wait for or
    /// not.
    public init(running loop: EventLoop) throws(EventLoopError) {
        self.loop = loop
        loop.keepRunning()
        // Not retained: `loop` outlives the thread, which is joined at the latest when this object goes.
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<EventLoop>.fromOpaque(argument).takeUnretainedValue().run()
                return nil
            }, Unmanaged.passUnretained(loop).toOpaque())
        guard status == 0 else {
            isJoined = true
            throw EventLoopError(number: status, action: "start a thread")
        }
    }

    /// Waits until the loop has stopped. Once: then the loop belongs to the caller's thread again.
    public func join() {
        guard !isJoined else { return }
        isJoined = true
        pthread_join(thread, nil)
    }

    deinit { join() }
}
