// SPDX-License-Identifier: MIT
import JSON

/// A call whose client sends many messages and gets one answer. Let go of before `finish`, it is cancelled.
public struct ClientStreamCall: Sendable {
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message: a JSON object's text. Waits while too many bytes are on their way.
    ///
    /// - Throws: what the call has failed with, where the server has refused it meanwhile.
    public func send(_ item: [UInt8]) async throws { try await call.send { $0.append(contentsOf: item) } }

    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Sends what `write` writes, a JSON object, straight into the outgoing bytes.
    func send(_ write: (inout ByteWriter) -> Void) async throws { try await call.send(write) }

    /// Says that all is sent, and waits for the answer.
    public func finish() async throws -> Answer {
        call.endItems()
        return try await call.result()
    }

    public func cancel() { call.cancel() }
}

/// A call that answers with many messages, in order. Ends with the server's stream; throws where that fails.
///
/// The items wait at the server while this side does not take them. For one task at a time.
public struct ServerStreamCall: AsyncSequence, Sendable {
    public typealias Element = Answer
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// What the server sent with the end of its stream; waits for it and skips items that were not taken.
    public func end() async throws -> Answer { try await call.result() }

    public func cancel() { call.cancel() }

    public func makeAsyncIterator() -> Iterator { Iterator(call: call) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let call: Call

        public mutating func next() async throws -> Answer? { try await call.nextItem() }
    }
}

/// A call in which both sides send many messages.
public struct BothWaysCall: AsyncSequence, Sendable {
    public typealias Element = Answer
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message. Waits while too many bytes are on their way.
    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Says that this side sends nothing more; the server may go on.
    public func endSending() { call.endItems() }

    public func cancel() { call.cancel() }

    public func makeAsyncIterator() -> ServerStreamCall.Iterator { ServerStreamCall.Iterator(call: call) }
}
