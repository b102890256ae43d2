// SPDX-License-Identifier: MIT
import ClusterProtocol
import Sources

/// Answers a method without streams.
package protocol UnaryMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Reads the params, and decides which thread answers and from which data. Called on the loop's thread, so it
    /// must be quick. A thrown error answers the call.
    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer

    /// Whether the call need not wait until its source has been opened after a start.
    var needsNoData: Bool { get }
}

extension UnaryMethod {
    package var needsNoData: Bool { false }
}
