// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

@Suite("WebSocket frame bounds") struct WebSocketFrameBoundsTests {
    private func follow(_ bytes: [UInt8], pieces size: Int) -> (taken: Int, isBetweenMessages: Bool) {
        var bounds = WebSocketFrameBounds(limit: 70_000)
        var taken = 0
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = bytes[start..<min(start + size, bytes.count)]
            let count = bounds.follow(piece.span)
            taken += count
            if count < piece.count { break }
        }
        return (taken, bounds.isBetweenMessages)
    }

    @Test("frames with each form of length are followed to their ends", arguments: [1, 2, 7, 1 << 20])
    func ends(size: Int) {
        var bytes: [UInt8] = []
        for count in [0, 1, 125, 126, 65535, 65536, 70_000] {
            let payload = [UInt8](repeating: 0x61, count: count)
            for isMasked in [true, false] {
                bytes += ClientFrame.frame(payload, isMasked: isMasked)
                #expect(follow(bytes, pieces: size) == (bytes.count, true), "\(count) bytes")
                #expect(follow(Array(bytes.dropLast()), pieces: size) == (bytes.count - 1, false), "\(count) bytes")
            }
        }
    }

    @Test("a message ends with its last fragment") func fragments() {
        let ping = ClientFrame.frame([1], opcode: 9)
        let first = ClientFrame.frame([UInt8](repeating: 0, count: 60_000), isFinal: false)
        #expect(follow(first + ping, pieces: 1000) == (first.count + ping.count, false))
        let last = ClientFrame.frame([UInt8](repeating: 0, count: 10_000), opcode: 0)
        let whole = first + ping + last
        #expect(follow(whole + whole, pieces: 1000) == (2 * whole.count, true))
        let large = ClientFrame.frame([UInt8](repeating: 0, count: 10_001), opcode: 0)
        // Two bytes of the head, and the first of the two bytes of the length.
        #expect(follow(first + ping + large, pieces: 1000).taken == first.count + ping.count + 3)
    }
}
