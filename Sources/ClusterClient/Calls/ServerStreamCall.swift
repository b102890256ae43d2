// SPDX-License-Identifier: MIT

/// A call that answers with many messages, in order. Iteration ends when the server ends its stream, and throws
/// if the stream fails.
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
