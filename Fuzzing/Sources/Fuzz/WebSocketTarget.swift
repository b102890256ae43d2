// SPDX-License-Identifier: MIT
import HTTPServer

/// A WebSocket's frames: the same messages and the same answers, however the bytes are cut.
final class WebSocketTarget: FuzzTarget {
    func take(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let stream = Array(input.dropFirst())
        let whole = Transcript.webSocket(stream, pieces: stream.count)
        let cut = Transcript.webSocket(stream, pieces: 1 + Int(first & 0x3F))
        if whole != cut { violated("the cuts change what is read: \(whole) and \(cut)") }
    }
}
