// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON

/// Wraps an answer as a frame with the protocol's envelope.
struct FrameAnswerEncoder: AnswerEncoder {
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
