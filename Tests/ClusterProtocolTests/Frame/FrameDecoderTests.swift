// SPDX-License-Identifier: MIT
import Compression
import JSON
import Testing

@testable import ClusterProtocol

@Suite("Frame decoder") struct FrameDecoderTests {
    private static func frame(_ payload: [UInt8], flag: UInt8 = 0) -> [UInt8] {
        [flag] + prefix(payload.count) + payload
    }

    private static func prefix(_ length: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
    }

    /// Feeds bytes in pieces of a size; the messages, and how the stream failed.
    private static func decode(
        _ bytes: [UInt8], pieces: Int, limit: Int = 1000
    ) -> (messages: [[UInt8]], failure: StatusCode?) {
        var decoder = FrameDecoder(limit: limit)
        var messages: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + pieces)
            decoder.append(bytes[start..<end].span.bytes)
            start = end
            do throws(RPCError) {
                while let message = try decoder.next({ Array(copying: $0) }) { messages.append(message) }
            } catch { return (messages, error.code) }
        }
        return (messages, nil)
    }

    /// The same whatever the pieces: drop by drop, in gulps, and all at once.
    private static func verify(_ bytes: [UInt8], gives messages: [[UInt8]], failing failure: StatusCode? = nil) {
        for pieces in Array(1...17) + [bytes.count] {
            let found = decode(bytes, pieces: pieces)
            #expect(found.messages == messages, "in pieces of \(pieces)")
            #expect(found.failure == failure, "in pieces of \(pieces)")
        }
    }

    @Test("messages are decoded however the bytes are split") func decodesAtAnyCut() throws {
        let messages = [Array("{}".utf8), [], Array("{\"id\":1}".utf8), [UInt8](repeating: 7, count: 1000)]
        Self.verify(messages.flatMap { Self.frame($0) }, gives: messages)
        let compressed = try messages.flatMap { Self.frame(try Zlib.deflate($0), flag: 1) }
        Self.verify(compressed, gives: messages)
    }

    @Test("memory is reserved for received bytes, not for the declared length")
    func reservesMemoryForReceivedBytes() throws {
        let size = 16 << 20
        var decoder = FrameDecoder()
        decoder.append(([0] + Self.prefix(size) + [1]).span.bytes)
        var hasMessage = try decoder.lendNext { _ in }
        #expect(!hasMessage)
        #expect(decoder.capacity < 1024)
        // From an eighth on the whole is reserved at once, so that its bytes are not copied again.
        decoder.append([UInt8](repeating: 1, count: size / 8).span.bytes)
        hasMessage = try decoder.lendNext { _ in }
        #expect(!hasMessage)
        #expect(decoder.capacity >= size)
        decoder.append([UInt8](repeating: 1, count: size - size / 8 - 1).span.bytes)
        #expect(try decoder.next { $0.count } == size)
    }

    @Test("any other flag ends the stream", arguments: [2, 3, 128, 254, 255] as [UInt8])
    func anyOtherFlagEndsTheStream(_ flag: UInt8) {
        let good = Self.frame([1, 2])
        Self.verify(good + Self.frame([1], flag: flag), gives: [[1, 2]], failing: .invalidArgument)
        #expect(Self.decode([flag], pieces: 1).failure == .invalidArgument)
    }

    @Test(
        "a length over the limit ends the stream before its bytes come",
        arguments: [1001, 1 << 24, 1 << 31, Int(UInt32.max)])
    func refusesLengthOverLimit(_ length: Int) {
        Self.verify([0] + Self.prefix(length), gives: [], failing: .resourceExhausted)
        Self.verify([1] + Self.prefix(length), gives: [], failing: .resourceExhausted)
    }

    @Test("a length at the limit is accepted") func acceptsLengthAtLimit() {
        #expect(Self.decode(Self.frame([UInt8](repeating: 1, count: 1000)), pieces: 64).messages.count == 1)
    }

    @Test("a compression bomb costs at most the limit") func aBombCostsTheLimit() throws {
        let bomb = try Zlib.deflate([UInt8](repeating: 0, count: 100_000))
        Self.verify(Self.frame(bomb, flag: 1), gives: [], failing: .resourceExhausted)
    }

    @Test("a frame that does not inflate ends the stream") func refusesBadCompression() throws {
        let whole = try Zlib.deflate(Array("{\"id\":1}".utf8))
        for bytes in [Array("{}".utf8), [], Array(whole.dropLast()), Array(whole.dropFirst())] {
            Self.verify(Self.frame(bytes, flag: 1), gives: [], failing: .invalidArgument)
        }
    }

    @Test("incomplete frames wait") func partsOfFramesWait() {
        let bytes = Self.frame([1, 2, 3])
        for count in 0..<bytes.count {
            let found = Self.decode(Array(bytes[..<count]), pieces: 1)
            #expect(found.messages.isEmpty)
            #expect(found.failure == nil)
        }
    }

    @Test("large frames are decoded in order, without a copy") func takesLargeFramesInOrder() throws {
        let (small, large) = ([UInt8](repeating: 1, count: 99), [UInt8](repeating: 2, count: 100))
        let compressed = try Zlib.deflate([UInt8](repeating: 3, count: 900))
        var decoder = FrameDecoder(limit: 1000)
        for bytes in [Self.frame(small), Self.frame(large), Self.frame(compressed, flag: 1), Self.frame(small)] {
            decoder.append(bytes.span.bytes)
        }
        #expect(try decoder.takeLarge(from: 100, compressed: 10) == nil)
        #expect(try decoder.next { Array(copying: $0) } == small)
        #expect(try decoder.takeLarge(from: 100, compressed: 10)?.withText { Array(copying: $0) } == large)
        #expect(
            try decoder.takeLarge(from: 100, compressed: 10)?.withText { Array(copying: $0) }
                == [UInt8](repeating: 3, count: 900))
        #expect(try decoder.takeLarge(from: 100, compressed: 10) == nil)
        #expect(try decoder.next { Array(copying: $0) } == small)
        #expect(decoder.waiting == 0)
    }

    @Test("a large frame that does not inflate is found when it is read") func reportsBadLargeFrameWhenRead() throws {
        var decoder = FrameDecoder(limit: 1000)
        let bomb = try Zlib.deflate([UInt8](repeating: 0, count: 100_000))
        for payload in [bomb, bomb.map { ~$0 }] {
            decoder.append(Self.frame(payload, flag: 1).span.bytes)
        }
        let frames = try (0..<2).map { _ in try #require(try decoder.takeLarge(from: 1, compressed: 1)) }
        let codes = frames.map { frame in
            do throws(RPCError) {
                _ = try frame.withText { $0.count }
                return StatusCode.ok
            } catch { return error.code }
        }
        #expect(codes == [.resourceExhausted, .invalidArgument])
    }
}
