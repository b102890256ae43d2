// SPDX-License-Identifier: MIT
import CLibuv
import Synchronization

/// Makes a loop poll its sockets for a moment after it has answered, as `PollingPolicy` decides. Belongs to
/// the loop's thread.
///
/// libuv does not sleep while an idle handle is active. The loop calls back just before it would sleep. A
/// loop without traffic never polls.
final class BriefPolling {
    private let prepare = Handle<uv_prepare_t>()
    private let idle = Handle<uv_idle_t>()
    private let budget: PollingBudget
    private var policy: PollingPolicy
    private var hasInput = false
    /// When polling began, was last seen to continue, and ends; nil if the loop does not poll.
    private var polling: (since: UInt64, seen: UInt64, end: UInt64)?
    /// The time spent polling, in nanoseconds.
    private(set) var nanoseconds: UInt64 = 0

    init(on loop: EventLoop, window: UInt64, within budget: PollingBudget) {
        self.budget = budget
        policy = PollingPolicy(window: window)
        uv_idle_init(loop.raw, idle.raw)
        uv_unref(idle.base)
        uv_prepare_init(loop.raw, prepare.raw)
        prepare.setOwner(self)
        uv_prepare_start(prepare.raw) { raw in
            Handle<uv_prepare_t>.owner(raw?.pointee.data, as: BriefPolling.self)?.willWait()
        }
        uv_unref(prepare.base)
    }

    deinit {
        end()
        prepare.close()
        idle.close()
    }

    /// A socket had bytes to read.
    func inputArrived() {
        guard !hasInput else { return }
        hasInput = true
        let now = uv_hrtime()
        policy.inputArrived(at: now)
        count(until: now)
    }

    /// Everything that was ready has been processed.
    private func willWait() {
        if hasInput {
            hasInput = false
            let now = uv_hrtime()
            guard let end = policy.becameIdle(at: now), polling != nil || budget.take() else {
                return self.end()
            }
            if polling == nil { uv_idle_start(idle.raw) { _ in } }
            polling = (now, now, end)
        } else if let (since, seen, end) = polling {
            let now = uv_hrtime()
            // A look takes about a microsecond. If one takes much longer, another thread uses this processor.
            if now >= end || now &- seen > policy.window / 2 {
                policy.pollingWasUseless()
                count(until: now)
                self.end()
            } else {
                polling = (since, now, end)
            }
        }
    }

    private func count(until now: UInt64) {
        if let polling { nanoseconds &+= now &- polling.since }
    }

    private func end() {
        guard polling != nil else { return }
        polling = nil
        uv_idle_stop(idle.raw)
        budget.giveBack()
    }
}

/// Limits how many loops poll at the same time, so that processors are left for other threads. Safe from any thread.
public final class PollingBudget: Sendable {
    private let left: Atomic<Int>

    /// - Parameter loops: how many loops may poll at once.
    public init(loops: Int) { left = Atomic(max(0, loops)) }

    /// Takes a loop's part; false if there is none left.
    func take() -> Bool {
        if left.subtract(1, ordering: .relaxed).newValue >= 0 { return true }
        giveBack()
        return false
    }

    func giveBack() { left.add(1, ordering: .relaxed) }
}

/// Decides whether a loop that has answered polls its sockets for a moment instead of sleeping.
///
/// Waking a sleeping thread takes the system 5 to 30 microseconds, longest on a virtual machine whose processor has
/// become idle. A client that sends its next request as soon as it has its answer waits for that each time. Polling
/// takes processor time instead, so a loop polls only while input regularly follows on answers within a short time.
struct PollingPolicy {
    /// How long a loop polls at most, in nanoseconds; 0: never.
    let window: UInt64
    /// How often input has lately followed soon. Grows by one, and halves each time that none has.
    private var confidence = 0
    /// The confidence from which the loop polls. Doubles each time that polling is useless, since clients may
    /// need the processor on which the loop polls. Falls by one each time that it is not.
    private var threshold = leastThreshold
    /// Since when the loop has had nothing to do; nil while it has.
    private var idleSince: UInt64?

    private static let leastThreshold = 8
    private static let mostThreshold = 1024

    init(window: UInt64) { self.window = window }

    private var isConfident: Bool { window > 0 && confidence >= threshold }

    /// Input has arrived, at a time in nanoseconds.
    mutating func inputArrived(at time: UInt64) {
        guard let idleSince else { return }
        self.idleSince = nil
        // Without polling, the time that the loop took to wake is part of it.
        guard time &- idleSince <= 2 * window else {
            confidence /= 2
            return
        }
        if isConfident { threshold = max(threshold - 1, Self.leastThreshold) }
        confidence = min(confidence + 1, 2 * threshold)
    }

    /// All input has been processed.
    ///
    /// - Returns: until when to poll; nil if the loop should sleep.
    mutating func becameIdle(at time: UInt64) -> UInt64? {
        idleSince = time
        return isConfident ? time &+ window : nil
    }

    /// Nothing arrived while the loop polled, or another thread needed the processor.
    mutating func pollingWasUseless() {
        confidence = 0
        threshold = min(2 * threshold, Self.mostThreshold)
    }
}
