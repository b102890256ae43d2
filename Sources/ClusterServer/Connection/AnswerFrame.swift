// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Writes a call's messages as frames.
struct AnswerFrame {
    let id: Int64
    let compressing: Bool
    let maximumBytes: Int
    /// Whether that is less than the server's limit, for answers that wait for slow readers.
    var isCut = false

    static let budgetError = RPCError(
        .resourceExhausted,
        "Too many bytes of answers wait for clients that do not read them. Read them, or try again soon.")

    /// Writes `{"id":…,"<member>":…}` with what `body` writes; or the error that it throws, or that the
    /// answer is too large. Returns how the call ended.
    func write(
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
    static func tooLarge(_ maximumBytes: Int) -> RPCError {
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
final class OutgoingBytes: @unchecked Sendable {
    var writer: ByteWriter

    init(_ writer: consuming ByteWriter) { self.writer = writer }
}
