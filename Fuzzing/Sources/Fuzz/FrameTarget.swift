// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// The frame decoder: the same messages and the same failure, however the stream is cut.
final class FrameTarget: FuzzTarget {
    func take(_ input: UnsafeRawBufferPointer) {
        // The first byte decides on the cuts.
        guard let first = input.first else { return }
        let stream = UnsafeRawBufferPointer(rebasing: input.dropFirst())
        let whole = decode(stream, piece: stream.count, takesLarge: false)
        let cut = decode(stream, piece: 1 + Int(first & 0x3F), takesLarge: first >= 0x80)
        if whole != cut { violated("the cuts change what is decoded") }
    }

    private struct Outcome: Equatable {
        var messages: [[UInt8]] = []
        var failure: StatusCode?
    }

    private func decode(_ stream: UnsafeRawBufferPointer, piece: Int, takesLarge: Bool) -> Outcome {
        var decoder = FrameDecoder(limit: 4096)
        var outcome = Outcome()
        var start = 0
        while start < stream.count {
            let end = min(stream.count, start + piece)
            decoder.append(stream.bytes.extracting(start..<end))
            start = end
            do throws(RPCError) {
                while let message = try next(&decoder, takesLarge) { outcome.messages.append(message) }
            } catch {
                outcome.failure = error.code
                return outcome
            }
        }
        return outcome
    }

    private func next(_ decoder: inout FrameDecoder, _ takesLarge: Bool) throws(RPCError) -> [UInt8]? {
        if takesLarge, let frame = try decoder.takeLarge(from: 64, compressed: 16) {
            return try frame.withText { Array(copying: $0) }
        }
        return try decoder.next { Array(copying: $0) }
    }
}
