// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Responses

/// An answer that can be written.
package struct PreparedAnswer: Sendable {
    /// Whether the loop's thread may write it: for answers that take tens of microseconds at most.
    package let isQuick: Bool
    /// The number of the source revision on which alone the answer depends besides the params; nil if it depends on
    /// anything else.
    let revision: UInt64?
    /// What no other call may work on at the same time.
    let subject: PoolSubject?
    /// Makes the answer as a stream of parts, in place of `write`; nil if it is written as a whole.
    let stream: (@Sendable (StreamOutput) -> any ServerStream)?
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
        stream = nil
    }

    /// An answer that is sent part by part.
    init(revision: UInt64, stream: @escaping @Sendable (StreamOutput) -> any ServerStream) {
        isQuick = false
        self.revision = revision
        subject = nil
        self.stream = stream
        write = { (_, _) throws(RPCError) in throw RPCError(.unimplemented, "The answer is a stream.") }
    }
}

/// The form of an answer.
package enum AnswerForm: Sendable, Equatable {
    /// The JSON value that the protocol defines.
    case json
    /// The content itself if the method has one besides JSON: a tile's bytes, the metrics' text. Else JSON.
    case raw
    /// The message of `proto/clusterd/v1/clusterd.proto` if the method writes it (`Method.writesProtobuf`). Else JSON.
    case protobuf(structProperties: Bool)

    /// One JSON document of any length, part by part, if the method's answer is a stream of items in JSON. Else JSON.
    case document
    /// Columns, part by part, if the method has them. Else JSON.
    ///
    /// - Parameter geometry: whether there is a column of points.
    case columns(geometry: Bool)

    /// The form of features in the answer of a method that writes messages.
    var features: FeatureForm {
        if case .protobuf(let structProperties) = self { .protobuf(structProperties: structProperties) } else { .json }
    }
}

/// How a transport wraps an answer, and in which form it takes it. The answer is written between `begin` and `end`
/// directly into the outgoing bytes, so it is written only once. Both are called on the thread that writes it. A value,
/// used from any thread.
package protocol AnswerEncoder: Sendable {
    /// What carries the answer.
    var wireProtocol: WireProtocol { get }
    var form: AnswerForm { get }
    /// Whether `end` compresses, which is work for the pool.
    var compresses: Bool { get }

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter)

    /// - Parameter start: the index at which `begin` began.
    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter)
}

/// An answer being made. One thread writes it and another reads it after the loop's hand-over, which orders the two,
/// so it may be shared.
final class AnswerJob: @unchecked Sendable {
    let bytes = OutgoingBytes(ByteWriter(capacity: 4096))
    private(set) var error: RPCError?
    private let call: PendingCall
    private let mostBytes: Int

    init(_ call: PendingCall, mostBytes: Int) { (self.call, self.mostBytes) = (call, mostBytes) }

    func run(_ write: (CallContext, inout ByteWriter) throws(RPCError) -> Void) {
        do throws(RPCError) { try call.write(within: mostBytes, into: &bytes.writer, write) } catch {
            self.error = error
        }
    }
}

extension AnswerEncoder {
    package var form: AnswerForm { .json }
}

/// The maximum number of bytes that an envelope adds to an item.
let mostEnvelope = 64

/// Outgoing bytes that the system may still be reading.
///
/// One thread fills the writer and another reads it after a hand-over through the loop's queue, which
/// orders the two. So it may be sent.
package final class OutgoingBytes: @unchecked Sendable {
    package var writer: ByteWriter

    package init(_ writer: consuming ByteWriter) { self.writer = writer }
}
