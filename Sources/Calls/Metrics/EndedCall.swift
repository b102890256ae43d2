// SPDX-License-Identifier: MIT
import ClusterProtocol

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
