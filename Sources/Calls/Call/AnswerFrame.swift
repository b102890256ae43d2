// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Writes a call's messages as frames.
package struct AnswerFrame {
    package let id: Int64
    package let compressing: Bool
    package let maximumBytes: Int
    /// Whether that is less than the server's limit, for answers that wait for slow readers.
    package var isCut = false

    package init(id: Int64, compressing: Bool, maximumBytes: Int, isCut: Bool = false) {
        self.id = id
        self.compressing = compressing
        self.maximumBytes = maximumBytes
        self.isCut = isCut
    }

    package static let budgetError = RPCError(
        .resourceExhausted,
        "Too many bytes of answers wait for clients that do not read them. Read them, or try again soon.")

    /// Writes `{"id":…,"<member>":…}` with what `body` writes; or the error that it throws, or that the
    /// answer is too large. Returns how the call ended.
    package func write(
        _ member: StaticString, into bytes: inout ByteWriter,
        _ body: (inout ByteWriter) throws(RPCError) -> Void
    ) -> StatusCode {
        let frame = FrameEncoder(beginningIn: &bytes)
        bytes.limitFollowing(to: maximumBytes)
        bytes.append("{\"id\":")
        bytes.append(integer: id)
        bytes.append(",\"")
        bytes.append(member)
        bytes.append("\":")
        var failure: RPCError?
        do throws(RPCError) { try body(&bytes) } catch { failure = error }
        bytes.append("}")
        // Writers give up with some error where they see that it is too much.
        if bytes.hasOverflowed || failure == nil && frame.length(in: bytes) > maximumBytes {
            failure = isCut ? Self.budgetError : Self.tooLarge(maximumBytes)
        }
        bytes.liftLimit()
        guard let failure else {
            frame.end(in: &bytes, compressing: compressing)
            return .ok
        }
        frame.abandon(in: &bytes)
        ServerMessage.write(error: failure, id: id, into: &bytes)
        return failure.code
    }
}

extension AnswerFrame {
    /// What a message takes at most beyond its item, in bytes.
    package static let itemEnvelope = 64

    package static func tooLarge(_ maximumBytes: Int) -> RPCError {
        RPCError(
            .resourceExhausted,
            "The answer is larger than the limit of \(maximumBytes) bytes. Ask for a page of it (limit, offset), a smaller bbox, or fewer properties."
        )
    }
}

/// Outgoing bytes that the system may still be reading.
///
/// The writer is filled by one thread and read by another after a hand-over through the loop's queue; that
/// is why it may be sent.
package final class OutgoingBytes: @unchecked Sendable {
    package var writer: ByteWriter

    package init(_ writer: consuming ByteWriter) { self.writer = writer }
}
