// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceEngine

/// A call whose params have been read: what it needs until its answer is written, or its stream ends.
package struct PendingCall: Sendable {
    /// The request. Its id is chosen by the transport and unique among the caller's open calls.
    let request: CallRequest
    /// How the transport wraps the answer.
    let encoder: any AnswerEncoder
    package let method: Method
    let started: UInt64
    var params: Params
    let context: CallContext
    /// Nil for streams, and while the call waits.
    var answer: PreparedAnswer?
    /// What the call waits for before it begins.
    var wait: SourceWait?

    /// The number of the source revision that the answer will be made from; nil for streams and for answers from other
    /// data.
    package var revision: UInt64? { answer?.revision }

    /// The rule that says what the caller sees of the source; nil if none does.
    var rule: Int? {
        guard let access = params.access, case .string(let text)? = params[.source] else { return nil }
        return SourceReference(text).flatMap { access.rule(on: $0.source) }
    }

    /// Identifies the part of the source that the answer shows, among all parts; empty if that is everything.
    package var part: [UInt8] {
        guard let source = params.source else { return [] }
        return (try? params.access?.seenPart(on: source.name))?.text ?? []
    }

    /// Appends the answer to `bytes`, which is unchanged after an error.
    ///
    /// - Parameter most: the maximum size of the answer with its envelope, in bytes.
    func write(
        within most: Int, into bytes: inout ByteWriter, _ body: (CallContext, inout ByteWriter) throws(RPCError) -> Void
    ) throws(RPCError) {
        let start = bytes.count
        bytes.limitFollowing(to: most)
        encoder.begin(.result, into: &bytes)
        var failure: RPCError?
        do throws(RPCError) {
            try context.check()
            try body(context, &bytes)
        } catch { failure = error }
        // Writers stop with an error of their own when they exceed the limit.
        if bytes.hasOverflowed || failure == nil && bytes.count - start > most { failure = .tooLarge(most) }
        bytes.liftLimit()
        if let failure {
            bytes.truncate(to: start)
            throw failure
        }
        encoder.end(.result, from: start, in: &bytes)
    }
}

extension RPCError {
    /// The error for an answer beyond its maximum size in bytes.
    static func tooLarge(_ most: Int) -> RPCError {
        RPCError(
            .resourceExhausted,
            "The answer is larger than the limit of \(most) bytes. Ask for a page of it (limit, offset), a smaller bbox, or fewer properties."
        )
    }
}
