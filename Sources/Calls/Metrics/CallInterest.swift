// SPDX-License-Identifier: MIT
import ClusterProtocol

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
        nanoseconds > longest || hasChanges && (method.isChange || status == .permissionDenied)
    }
}
