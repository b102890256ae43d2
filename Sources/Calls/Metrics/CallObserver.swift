// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Sees each call that is over, for the log. Safe from any thread; called on a loop's, so it must be quick.
package protocol CallObserver: Sendable {
    /// - Parameter nanoseconds: from the call's opening to its answer, of a stream to its first item.
    func callEnded(
        _ request: CallRequest, _ method: MethodDeclaration, by peer: Peer, _ status: StatusCode,
        nanoseconds: UInt64)
}
