// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Sees each call that is over, for the log. Safe from any thread; called on a loop's, so it must be quick.
package protocol CallObserver: Sendable {
    func callEnded(_ call: EndedCall)
}

/// A call that is over.
package struct EndedCall: Sendable {
    package let request: CallRequest
    package let method: MethodDeclaration
    package let peer: Peer
    package let status: StatusCode
    /// From the call's opening to its answer, of a stream to its first item.
    package let nanoseconds: UInt64
    /// How many features it put in, replaced or removed.
    package let changed: Int
}
