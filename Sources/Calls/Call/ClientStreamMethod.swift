// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Answers a method whose client sends a stream.
package protocol ClientStreamMethod: Sendable {
    var declaration: MethodDeclaration { get }

    /// Opens the stream. Called on the loop's thread, so it must be quick.
    func begin(_ params: Params, _ call: CallContext) throws(RPCError) -> any ClientStream
}
