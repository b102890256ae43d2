// SPDX-License-Identifier: MIT
import ClusterProtocol
import Testing

@testable import RPC

@Suite("Call context") struct CallContextTests {
    private func code(_ context: CallContext) -> StatusCode? {
        do throws(RPCError) { try context.check() } catch { return error.code }
        return nil
    }

    @Test("a call goes on until it is cancelled") func aCallGoesOnUntilItIsCancelled() {
        let context = CallContext()
        #expect(code(context) == nil)
        #expect(!context.isOver)
        context.cancel()
        #expect(code(context) == .cancelled)
        #expect(context.isOver)
    }

    @Test("a call goes on until its deadline") func aCallGoesOnUntilItsDeadline() {
        let now = MonotonicClock.now()
        #expect(code(CallContext(deadline: now + 3_600_000_000_000)) == nil)
        let late = CallContext(deadline: now)
        #expect(code(late) == .deadlineExceeded)
        #expect(late.isOver)
    }
}
