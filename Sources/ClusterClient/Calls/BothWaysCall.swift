// SPDX-License-Identifier: MIT
import JSON

/// A call in which both sides send many messages.
public struct BothWaysCall: AsyncSequence, Sendable {
    public typealias Element = Answer
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message. Waits while too many bytes are queued for sending.
    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Declares that this side sends nothing more; the server may continue.
    public func endSending() { call.endItems() }

    public func cancel() { call.cancel() }

    public func makeAsyncIterator() -> ServerStreamCall.Iterator { ServerStreamCall.Iterator(call: call) }
}
