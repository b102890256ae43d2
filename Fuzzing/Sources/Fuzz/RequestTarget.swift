// SPDX-License-Identifier: MIT
import HTTPServer

/// HTTP's heads, bodies and chunks: the same requests and the same failure, however the bytes are cut; and what paths and
/// queries mean.
final class RequestTarget: FuzzTarget {
    func take(_ input: UnsafeRawBufferPointer) {
        // The first byte decides on the cuts.
        guard let first = input.first else { return }
        let stream = Array(input.dropFirst())
        let whole = read(stream, pieces: stream.count)
        let cut = read(stream, pieces: 1 + Int(first & 0x3F))
        if whole != cut { violated("the cuts change what is read: \(whole) and \(cut)") }
        let mark = stream.firstIndex(of: UInt8(ascii: "?")) ?? stream.count
        _ = Transcript.meaning(Array(stream[..<mark]), Array(stream[mark...].dropFirst()))
    }

    private func read(_ stream: [UInt8], pieces: Int) -> [String] {
        Transcript.requests(stream, pieces: pieces, headBytes: 1024, targetBytes: 512)
    }
}
