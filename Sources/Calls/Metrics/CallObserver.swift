// SPDX-License-Identifier: MIT

/// Receives calls that have ended, for the log. Safe from any thread; called on a loop's thread, so it must be
/// quick.
package protocol CallObserver: Sendable {
    /// Which calls it receives.
    var interest: CallInterest { get }

    func callEnded(_ call: EndedCall)
}
