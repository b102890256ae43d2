// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Answers a method that streams from the server; the client may stream too.
package protocol ServerStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. Called on the loop's thread, so it must be quick.
    func begin(
        _ params: Params, _ call: CallContext, _ output: any ServerStreamOutput
    ) throws(RPCError) -> any ServerStream
}
