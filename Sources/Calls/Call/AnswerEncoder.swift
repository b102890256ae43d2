// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// How a transport wraps an answer. The answer is written between `begin` and `end` directly into the outgoing bytes, so it is
/// written only once. Both are called on the thread that writes it. A value, used from any thread.
package protocol AnswerEncoder: Sendable {
    /// Whether `end` compresses, which is work for the pool.
    var compresses: Bool { get }

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter)

    /// - Parameter start: the index at which `begin` began.
    func end(_ part: AnswerPart, _ facts: AnswerFacts, from start: Int, in bytes: inout ByteWriter)
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

/// What a transport may need to know about an answer besides its bytes.
package struct AnswerFacts: Sendable, Equatable {
    package var mediaType: String
    /// The number of the source revision that it was made from; nil if there is none.
    package var revision: UInt64?

    package init(mediaType: String = Self.json, revision: UInt64? = nil) {
        self.mediaType = mediaType
        self.revision = revision
    }

    package static let json = "application/json"
}

/// Outgoing bytes that the system may still be reading.
///
/// One thread fills the writer and another reads it after a hand-over through the loop's queue, which
/// orders the two. So it may be sent.
package final class OutgoingBytes: @unchecked Sendable {
    package var writer: ByteWriter

    package init(_ writer: consuming ByteWriter) { self.writer = writer }
}

/// A part of an answer, ready to be sent.
package struct FinishedAnswer {
    package let bytes: OutgoingBytes
    package let part: AnswerPart
    package let facts: AnswerFacts
}
