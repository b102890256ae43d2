// SPDX-License-Identifier: MIT
import CLibuv

/// Makes a loop poll its sockets for a moment after it has answered, as `PollingPolicy` decides. Belongs to the loop's thread.
///
/// libuv does not sleep while an idle handle is active. The loop calls back just before it would sleep. A loop without traffic never
/// polls.
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

    init(_ loop: UnsafeMutablePointer<uv_loop_t>, window: UInt64, within budget: PollingBudget) {
        self.budget = budget
        policy = PollingPolicy(window: window)
        uv_idle_init(loop, idle.raw)
        uv_unref(idle.base)
        uv_prepare_init(loop, prepare.raw)
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
