// SPDX-License-Identifier: MIT
import Glibc

/// A thread for a loop. The loop, and everything that belongs to it, is created before, and used only by that
/// thread until `join` has returned.
///
/// Invariant: `thread` was started by `init` and is joined exactly once.
public final class LoopThread {
    private let loop: EventLoop
    private var thread = pthread_t()
    private var isJoined = false

    /// Starts the thread, on which the loop runs until it is stopped, even if it has nothing to wait for.
    public init(running loop: EventLoop) throws(EventLoopError) {
        self.loop = loop
        loop.keepRunning()
        // Not retained: `loop` outlives the thread, which is joined at the latest when this object is
        // released.
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

    /// Waits until the loop has stopped; then the loop belongs to the caller's thread again. Call it once.
    public func join() {
        guard !isJoined else { return }
        isJoined = true
        pthread_join(thread, nil)
    }

    deinit { join() }
}
