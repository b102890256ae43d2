// SPDX-License-Identifier: MIT
import HTTP2Server

/// Frames of HTTP/2 and the messages in them: the same streams, however the bytes are cut.
final class HTTP2Target: FuzzTarget {
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

    func take(_ input: UnsafeRawBufferPointer) {
        // The first byte decides on the cuts, and on whether the client begins as it has to.
        guard let first = input.first else { return }
        let stream = (first & 0x80 == 0 ? Self.preface : []) + Array(input.dropFirst())
        let whole = SessionTranscript.of(stream, pieces: stream.count)
        let cut = SessionTranscript.of(stream, pieces: 1 + Int(first & 0x3F))
        // The whole is broken at the first fault; what came before it is the same.
        if whole.filter({ $0 != "broken" }) != cut.filter({ $0 != "broken" }) {
            violated("the cuts change what is read: \(whole) and \(cut)")
        }
    }
}

/// Messages of all methods, in protobuf and in protobuf's JSON.
final class MessageTarget: FuzzTarget {
    func take(_ input: UnsafeRawBufferPointer) {
        // The first byte chooses the method and the form.
        guard let first = input.first else { return }
        let message = Array(input.dropFirst())
        if first & 0x80 == 0 {
            _ = SessionTranscript.meaning(message, of: Int(first & 0x7F))
        } else {
            _ = SessionTranscript.meaning(json: message, of: Int(first & 0x7F))
        }
    }
}
