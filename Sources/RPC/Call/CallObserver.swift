// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Receives calls that have ended, for the log. Safe from any thread; called on a loop's thread, so it must be
/// quick.
package protocol CallObserver: Sendable {
    /// Which calls it receives.
    var interest: CallInterest { get }

    func callEnded(_ call: EndedCall)
}

/// A call that has ended.
package struct EndedCall: Sendable {
    package let request: CallRequest
    package let method: MethodDeclaration
    package let peer: Peer
    package let status: StatusCode
    /// From the call's opening to its answer, or to the first item of a stream.
    package let nanoseconds: UInt64
    /// How many features it inserted, replaced or removed.
    package let changed: Int
}

/// Which ended calls an observer sees. All other calls cost it nothing.
package struct CallInterest: Sendable {
    /// Calls that took longer, in nanoseconds.
    private let longest: UInt64
    /// Whether it sees each call that was denied and each that changes sources.
    private let hasChanges: Bool

    package init(slowerThan longest: UInt64 = .max, changesAndDenials: Bool = false) {
        self.longest = longest
        hasChanges = changesAndDenials
    }

    func covers(_ method: Method, _ status: StatusCode, nanoseconds: UInt64) -> Bool {
        nanoseconds > longest || hasChanges && (method.declaration.isChange || status == .permissionDenied)
    }
}
