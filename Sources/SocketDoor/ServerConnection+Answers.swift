// SPDX-License-Identifier: MIT
import Calls
import ClusterProtocol
import JSON

/// How answers come into the outgoing bytes.
extension ServerConnection {
    /// Answers at once, within this turn.
    func answer(_ request: CallRequest, _ body: (inout ByteWriter) throws(RPCError) -> Void) -> StatusCode {
        let status = frame(for: request).write("result", into: &output, body)
        machine.finish(request.id)
        return status
    }

    /// Writes an error as a call's answer and forgets the call.
    func answer(_ request: CallRequest, error: RPCError) {
        ServerMessage.write(error: error, id: request.id, into: &output)
        machine.finish(request.id)
    }

    /// - Parameter waits: whether the answer will wait as a whole for its client, so that what others'
    ///   answers hold already counts.
    func frame(for request: CallRequest, waits: Bool = false) -> AnswerFrame {
        let most = server.limits.maxAnswerBytes
        let allowance = waits ? allowance(upTo: most) : most
        return AnswerFrame(
            id: request.id, compressing: request.acceptsDeflate, maximumBytes: allowance,
            isCut: allowance < most)
    }

    /// How large an answer may become that is begun now. Who had one cut short for lack of room has no more
    /// work done on large ones until there is room again.
    private func allowance(upTo most: Int) -> Int {
        if server.budget.isHalfEmpty { wasCut = false }
        return wasCut ? QueueBudget.reserve : server.budget.allowance(upTo: most)
    }

    /// Writes a frame that was made elsewhere. Large ones are not copied.
    func send(_ frame: OutgoingBytes) {
        if frame.writer.count < QueueBudget.reserve {
            frame.writer.withUnsafeBytes { output.append(contentsOf: $0) }
        } else {
            flush()
            frame.writer.withUnsafeBytes { bytes in write(bytes, keeping: frame) }
        }
    }

    /// Writes a stream's message into the outgoing bytes, as it is.
    func writeFrame(
        _ member: StaticString, for request: CallRequest, _ body: (inout ByteWriter) throws(RPCError) -> Void
    ) {
        let frame = AnswerFrame(id: request.id, compressing: false, maximumBytes: .max)
        _ = frame.write(member, into: &output, body)
    }
}
