// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Makes an answer within a limit of bytes, wrapped by the transport's encoder.
struct AnswerBuilder: Sendable {
    let encoder: any AnswerEncoder
    /// The maximum size of the answer with its envelope, in bytes.
    var maximumBytes: Int

    /// Appends a part of an answer to `bytes`, which is unchanged after an error.
    func make(
        _ part: AnswerPart, _ facts: AnswerFacts, into bytes: inout ByteWriter,
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
        encoder.end(part, facts, from: start, in: &bytes)
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
