// SPDX-License-Identifier: MIT

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
        let call: Call

        public mutating func next() async throws -> Answer? { try await call.nextItem() }
    }
}
