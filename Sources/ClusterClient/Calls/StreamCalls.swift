// SPDX-License-Identifier: MIT
import JSON

/// A call whose client sends many messages and gets one answer. Releasing it before `finish` cancels it.
public struct ClientStreamCall: Sendable {
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message: the text of a JSON object. Waits while too many bytes are queued for sending.
    ///
    /// - Throws: the call's error, if the server has rejected the call meanwhile.
    public func send(_ item: [UInt8]) async throws { try await call.send { $0.append(contentsOf: item) } }

    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Sends the JSON object that `write` writes directly into the outgoing bytes.
    func send(_ write: (inout ByteWriter) -> Void) async throws { try await call.send(write) }

    /// Declares that everything is sent, and waits for the answer.
    public func finish() async throws -> Answer {
        call.endItems()
        return try await call.result()
    }

    public func cancel() { call.cancel() }
}

/// A call that answers with many messages, in order. Iteration ends when the server ends its stream, and
/// throws if the stream fails.
///
/// Items that this side does not take wait at the server. One task at a time may iterate.
public struct ServerStreamCall: AsyncSequence, Sendable {
    public typealias Element = Answer
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// The value that the server sends with the end of its stream; waits for it and skips items not taken.
    public func end() async throws -> Answer { try await call.result() }

    public func cancel() { call.cancel() }

    public func makeAsyncIterator() -> Iterator { Iterator(call: call) }

    public struct Iterator: AsyncIteratorProtocol {
        let call: Call

        public mutating func next() async throws -> Answer? { try await call.nextItem() }
    }
}

/// A call in which both sides send many messages.
public struct BothWaysCall: AsyncSequence, Sendable {
    public typealias Element = Answer
    private let call: Call

    init(_ call: Call) { self.call = call }

    /// Sends a message: the text of a JSON object. Waits while too many bytes are queued for sending.
    ///
    /// - Throws: the call's error, if it has failed meanwhile.
    public func send(_ item: [UInt8]) async throws { try await call.send { $0.append(contentsOf: item) } }

    public func send(_ item: JSONObject) async throws { try await call.send { $0.append(.object(item)) } }

    /// Declares that this side sends nothing more; the server may continue.
    public func endSending() { call.endItems() }

    public func cancel() { call.cancel() }

    public func makeAsyncIterator() -> ServerStreamCall.Iterator { ServerStreamCall.Iterator(call: call) }
}
