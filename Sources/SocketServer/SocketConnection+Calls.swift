// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON

/// Opens calls, and handles what they produce later.
extension SocketConnection: CallTransport {
    func open(_ request: consuming CallRequest) {
        let id = request.id
        let encoder = FrameAnswerEncoder(id: id, compresses: request.acceptsDeflate)
        do throws(RPCError) {
            _ = try caller.open(request, by: caller.identity, as: encoder, into: &output)
        } catch { ServerMessage.write(error: error, id: id, into: &output) }
    }

    func canTakeItem(of call: Call) -> Bool { socket.queuedBytes == 0 && life.phase != .closed }

    func call(_ call: Call, answered answer: OutgoingBytes) {
        send(answer)
        settle()
    }

    func call(_ call: Call, sent item: OutgoingBytes, of revision: UInt64?) {
        send(item)
        flush()
    }

    func call(_ call: Call, failed error: RPCError) {
        ServerMessage.write(error: error, id: call.id, into: &output)
        settle()
    }

    func callTookInput(_ call: Call) { process() }

    /// A call has ended: continues with messages that waited for that.
    private func settle() {
        freeLargeParser()
        // Within a turn this does nothing, because the turn's end does it.
        process()
    }
}

/// Wraps an answer as a frame with the protocol's envelope.
struct FrameAnswerEncoder: AnswerEncoder {
    var wireProtocol: WireProtocol { .frames }
    let id: Int64
    let compresses: Bool

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter) {
        _ = FrameEncoder(beginningIn: &bytes)
        bytes.append("{\"id\":")
        bytes.append(integer: id)
        switch part {
        case .result: bytes.append(",\"result\":")
        case .item: bytes.append(",\"item\":")
        case .end: bytes.append(",\"end\":")
        }
    }

    func end(_ part: AnswerPart, from start: Int, in bytes: inout ByteWriter) {
        bytes.append("}")
        FrameEncoder(begunAt: start).end(in: &bytes, compressing: compresses)
    }
}
