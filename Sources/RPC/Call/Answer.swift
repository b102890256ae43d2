// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// An answer that can be written.
package struct PreparedAnswer: Sendable {
    /// Whether the loop's thread may write it: for answers that take tens of microseconds at most.
    package let isQuick: Bool
    /// The number of the source revision on which alone the answer depends besides the params; nil if it depends on anything else.
    let revision: UInt64?
    /// What no other call may work on at the same time.
    let subject: PoolSubject?
    /// Writes the answer; if it throws, what it has written is discarded. On the pool it checks now and then
    /// whether the call has been cancelled. Called once.
    package let write: @Sendable (CallContext, inout ByteWriter) throws(RPCError) -> Void

    package init(
        isQuick: Bool, revision: UInt64? = nil, subject: PoolSubject? = nil,
        write: @escaping @Sendable (CallContext, inout ByteWriter) throws(RPCError) -> Void
    ) {
        self.isQuick = isQuick
        self.revision = revision
        self.subject = subject
        self.write = write
    }
}

/// Which part of an answer some bytes are.
package enum AnswerPart: Sendable {
    /// The whole answer of a call without a stream from the server.
    case result
    /// One message of a stream from the server.
    case item
    /// The message that ends such a stream.
    case end
}

/// How a transport wraps an answer. The answer is written between `begin` and `end` directly into the outgoing bytes, so it is
/// written only once. Both are called on the thread that writes it. A value, used from any thread.
package protocol AnswerEncoder: Sendable {
    /// Whether `end` compresses, which is work for the pool.
    var compresses: Bool { get }

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter)

    /// - Parameter start: the index at which `begin` began.
    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter)
}

/// Makes an answer within a limit of bytes, wrapped by the transport's encoder.
struct AnswerBuilder: Sendable {
    let encoder: any AnswerEncoder
    /// The maximum size of the answer with its envelope, in bytes.
    var maximumBytes: Int

    /// Appends a part of an answer to `bytes`, which is unchanged after an error.
    func make(
        _ part: AnswerPart, into bytes: inout ByteWriter,
        _ body: (inout ByteWriter) throws(RPCError) -> Void
    ) throws(RPCError) {
        let start = bytes.count
        bytes.limitFollowing(to: maximumBytes)
        encoder.begin(part, into: &bytes)
        var failure: RPCError?
        do throws(RPCError) { try body(&bytes) } catch { failure = error }
        // Writers stop with an error of their own when they exceed the limit.
        if bytes.hasOverflowed || failure == nil && bytes.count - start > maximumBytes {
            failure = Self.tooLarge(maximumBytes)
        }
        bytes.liftLimit()
        if let failure {
            bytes.truncate(to: start)
            throw failure
        }
        encoder.end(part, from: start, in: &bytes)
    }

    static func tooLarge(_ maximumBytes: Int) -> RPCError {
        RPCError(
            .resourceExhausted,
            "The answer is larger than the limit of \(maximumBytes) bytes. Ask for a page of it (limit, offset), a smaller bbox, or fewer properties."
        )
    }

    /// The maximum number of bytes that an envelope adds to an item.
    static let envelope = 64
}

/// An answer being made. One thread writes it and another reads it after the loop's hand-over, which orders the two,
/// so it may be shared.
final class AnswerJob: @unchecked Sendable {
    let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
    private(set) var error: RPCError?
    private let builder: AnswerBuilder
    private let context: CallContext

    init(_ builder: AnswerBuilder, _ context: CallContext) {
        self.builder = builder
        self.context = context
    }

    func run(_ write: (CallContext, inout ByteWriter) throws(RPCError) -> Void) {
        do throws(RPCError) {
            try builder.make(.result, into: &bytes.writer) { (bytes) throws(RPCError) in
                try context.check()
                try write(context, &bytes)
            }
        } catch { self.error = error }
    }
}

/// Outgoing bytes that the system may still be reading.
///
/// One thread fills the writer and another reads it after a hand-over through the loop's queue, which
/// orders the two. So it may be sent.
package final class OutgoingBytes: @unchecked Sendable {
    package var writer: ByteWriter

    package init(_ writer: consuming ByteWriter) { self.writer = writer }
}
