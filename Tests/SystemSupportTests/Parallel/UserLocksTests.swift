// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("A lock for each user") struct UserLocksTests {
    private enum Outcome: Error { case cancelled }

    /// Runs a body as a user's work; false if it was cancelled before it had the lock.
    private func run(
        _ user: UInt64, in locks: UserLocks, isCancelled: Bool = false, _ body: () -> Void = {}
    ) -> Bool {
        let cancellation = Cancellation(of: user) { isCancelled }
        do throws(Outcome) {
            try locks.withLock(cancellation, orThrow: Outcome.cancelled) { () throws(Outcome) in body() }
            return true
        } catch { return false }
    }

    @Test("one user's work does not hold up another's, but the same user's") func users() {
        let locks = UserLocks()
        var (other, same, users): (Bool, Bool, Int) = (false, true, 0)
        let first = run(1, in: locks) {
            other = run(2, in: locks) { users = locks.userCount }
            // It would have to wait for the first, and gives up.
            same = run(1, in: locks, isCancelled: true)
        }
        #expect(first)
        #expect(other)
        #expect(!same)
        #expect(users == 2)
        #expect(locks.userCount == 0)
    }
}
