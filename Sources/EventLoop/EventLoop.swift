// SPDX-License-Identifier: MIT
import CLibuv
import CLinux
import Glibc
import Synchronization

/// A loop over libuv: one thread that waits for sockets, timers and signals and calls back.
///
/// The promise that all types of this module keep:
/// - A loop belongs to the thread that calls `run`. All callbacks run on that thread, one at a time.
/// - Everything except `EventLoop.Remote` and the bodies of `work` is used only on that thread, or before `run`.
/// - A handle's memory lives until libuv's close callback, whatever happens to its Swift object.
/// - No callback of a handle runs after its `close`, except those that report the end of writes.
/// - Work passed to `work` runs on libuv's thread pool, and its completion on the loop.
/// - Several loops may run in parallel, each on its own thread; they share the pool.
public final class EventLoop {
    let raw: UnsafeMutablePointer<uv_loop_t>
    /// The part of this loop that other threads may use.
    public let remote: Remote
    private let wakeUp: UnsafeMutablePointer<uv_async_t>
    /// The buffer for reads. One buffer serves all connections, because a read is consumed before the next.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    private(set) var polling: BriefPolling?

    public init() throws(EventLoopError) {
        raw = .allocate(capacity: 1)
        try EventLoopError.check(uv_loop_init(raw), "start an event loop")
        wakeUp = .allocate(capacity: 1)
        remote = Remote(wakeUp)
        wakeUp.pointee.data = Unmanaged.passUnretained(remote).toOpaque()
        let status = uv_async_init(raw, wakeUp) { handle in
            guard let data = handle?.pointee.data else { return }
            Unmanaged<Remote>.fromOpaque(data).takeUnretainedValue().drain()
        }
        try EventLoopError.check(status, "start an event loop")
        uv_unref(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self))
    }

    deinit {
        polling = nil
        remote.close()
        uv_close(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            handle.map { UnsafeMutableRawPointer($0).deallocate() }
        }
        uv_run(raw, UV_RUN_DEFAULT)
        uv_loop_close(raw)
        raw.deallocate()
        readBuffer.deallocate()
    }

    /// Runs until there is nothing left to wait for, or until `stop`.
    public func run() { uv_run(raw, UV_RUN_DEFAULT) }

    /// Makes this thread preempt the pool's long work as soon as it wakes, if the system can do that. Otherwise, while all
    /// processors are busy, the loop waits until their time slices of some milliseconds end. Call it on the loop's thread.
    /// Threads that it starts have a niceness of 0 if its own is below.
    public static func takePrecedence() {
        _ = clusterd_use_slices(shortSlice, getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
    }

    /// In nanoseconds; the shortest that there is.
    private static let shortSlice: UInt64 = 100_000

    /// Makes `run` continue until `stop`, even if there is nothing to wait for. Call it before `run`.
    func keepRunning() {
        uv_ref(UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self))
    }

    /// Makes the loop poll for a moment after it has processed input, instead of sleeping at once, while
    /// further input regularly follows that soon. Call it once, before `run`.
    ///
    /// - Parameters:
    ///   - microseconds: how long it polls at most; a minute if more, never if 0 or less.
    ///   - budget: limits how many of the loops that share it poll at once.
    public func poll(microseconds: Int, within budget: PollingBudget) {
        let window = UInt64(min(max(0, microseconds), 60_000_000)) * 1000
        polling = window > 0 ? BriefPolling(on: self, window: window, within: budget) : nil
    }

    /// The time that the loop has spent polling, in nanoseconds.
    public var pollingNanoseconds: UInt64 { polling?.nanoseconds ?? 0 }

    /// Makes `run` return after the current iteration.
    public func stop() { uv_stop(raw) }

    /// The time at which the current iteration began, in milliseconds on a monotonic clock.
    public var now: UInt64 { uv_now(raw) }

    /// Runs `body` on the thread pool, then `completion` on the loop. The loop does not end before that.
    ///
    /// - Parameter isLong: whether other work of the pool should preempt it as soon as it comes, if the system can do that.
    public func work(
        isLong: Bool = false, _ body: @escaping @Sendable () -> Void, completion: @escaping () -> Void
    ) {
        let job = Job(isLong: isLong, body: body, completion: completion)
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
        request.pointee.data = Unmanaged.passRetained(job).toOpaque()
        let status = uv_queue_work(
            raw, request,
            { request in
                guard let data = request?.pointee.data else { return }
                let job = Unmanaged<Job>.fromOpaque(data).takeUnretainedValue()
                EventLoop.schedulePoolThread(slice: job.isLong ? 0 : EventLoop.shortSlice)
                job.body()
                // The thread wakes for its next job with the slices that it has now.
                if job.isLong { EventLoop.schedulePoolThread(slice: EventLoop.shortSlice) }
            },
            { request, _ in
                guard let request, let data = request.pointee.data else { return }
                request.deallocate()
                Unmanaged<Job>.fromOpaque(data).takeRetainedValue().completion()
            })
        if status != 0 {
            // No thread could be started: the work runs here instead.
            Unmanaged<Job>.fromOpaque(request.pointee.data).release()
            request.deallocate()
            body()
            completion()
        }
    }

    /// Lets the loops' threads take precedence over this one. On Linux it affects this thread alone.
    private static func schedulePoolThread(slice: UInt64) {
        if clusterd_use_slices(slice, poolNiceness) == 0 { return }
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, poolNiceness)
    }

    /// A job that passes through the pool; libuv's own hand-over orders the two threads' accesses.
    private final class Job {
        let isLong: Bool
        let body: @Sendable () -> Void
        let completion: () -> Void

        init(isLong: Bool, body: @escaping @Sendable () -> Void, completion: @escaping () -> Void) {
            self.isLong = isLong
            self.body = body
            self.completion = completion
        }
    }

    /// The loop's interface for other threads.
    ///
    /// `wakeUp` is used only under the lock that `close` also takes, so never after the loop has been closed,
    /// and libuv permits `uv_async_send` from any thread. Therefore `@unchecked Sendable` is sound.
    public final class Remote: @unchecked Sendable {
        private let wakeUp: UnsafeMutablePointer<uv_async_t>
        private let state = Mutex<State>(State())

        private struct State {
            var jobs: [@Sendable () -> Void] = []
            var isClosed = false
        }

        fileprivate init(_ wakeUp: UnsafeMutablePointer<uv_async_t>) { self.wakeUp = wakeUp }

        /// Runs `body` on the loop's thread soon; posts from one thread keep their order. After the loop has
        /// been closed it does nothing.
        public func post(_ body: @escaping @Sendable () -> Void) {
            state.withLock { state in
                guard !state.isClosed else { return }
                state.jobs.append(body)
                uv_async_send(wakeUp)
            }
        }

        fileprivate func drain() {
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job() }
        }

        fileprivate func close() { state.withLock { $0.isClosed = true } }
    }
}

/// The niceness of the pool's threads.
private let poolNiceness: Int32 = 5

/// A failed system operation, and what it was for.
public struct EventLoopError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system's error number, positive.
    public let number: Int32
    public let action: String

    /// A message for a person.
    public var description: String { "cannot \(action): " + String(cString: uv_strerror(-number)) }

    static func check(_ status: Int32, _ action: String) throws(EventLoopError) {
        if status < 0 { throw EventLoopError(number: -status, action: action) }
    }
}

/// Calls back each time the loop has called back for all sockets that were ready. Stops when it is released;
/// never keeps a loop running.
public final class IterationEnd {
    private let handle = Handle<uv_check_t>()
    private let onEnd: () -> Void

    public init(on loop: EventLoop, _ onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        uv_check_init(loop.raw, handle.raw)
        handle.setOwner(self)
        uv_check_start(handle.raw) { raw in Handle<uv_check_t>.owner(raw?.pointee.data, as: IterationEnd.self)?.onEnd()
        }
        uv_unref(handle.base)
    }

    deinit { handle.close() }
}

/// Carries a value that belongs to a loop's thread through a closure that another thread passes on.
///
/// Its value is accessed only on the loop's thread, by the code that made it, so `@unchecked Sendable` is sound.
public struct LoopBound<Value>: @unchecked Sendable {
    public let value: Value
    public init(_ value: Value) { self.value = value }
}

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
        // Not retained: `loop` outlives the thread, which is joined at the latest when this object is released.
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                EventLoop.takePrecedence()
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
