// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Receives a transport's events, always on the loop's thread and one at a time.
protocol TransportOwner: AnyObject, Sendable {
    func transportReceived(_ bytes: UnsafeRawBufferPointer)
    /// Whether to stop reading until `Transport.resumeReading`; checked after each piece.
    var transportShouldPause: Bool { get }
    /// Called once; nothing follows it.
    func transportClosed(_ error: RPCError)
}
