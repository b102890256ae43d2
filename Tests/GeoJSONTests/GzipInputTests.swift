// SPDX-License-Identifier: MIT
import Compression
import Testing

@testable import GeoJSON

@Suite("Compressed input")
struct GzipInputTests {
    private static let line =
        #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"a":""#

    /// Lines of features that compress to about a thousandth.
    private static func text(_ count: Int) -> [UInt8] {
        let line = Array(line.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 100_000) + Array("\"}}\n".utf8)
        return (0..<count).flatMap { _ in line }
    }

    private static func compressed(_ text: [UInt8]) throws -> [UInt8] {
        var stream = try DeflateStream(format: .gzip, level: 9)
        var output: [UInt8] = []
        _ = try stream.compress(text.span, appendingTo: &output)
        return output
    }

    @Test("is inflated window by window, whatever the compression ratio") func window() throws {
        let text = Self.text(80)
        let bytes = try Self.compressed(text)
        #expect(bytes.count < text.count / 500)
        var input = GzipInput()
        var (offset, found, steps) = (0, [UInt8](), 0)
        while offset < bytes.count {
            var once = 0
            let rest = bytes[offset...]
            offset += try input.push(rest.span) { (piece) throws(GeoJSONError) in
                once += piece.count
                found.append(contentsOf: piece.bytes)
            }
            #expect(once <= GzipInput.windowSize)
            steps += 1
        }
        try input.finish()
        #expect(found == text)
        #expect(steps >= text.count / GzipInput.windowSize)
    }

    @Test("gives the same features in pieces of any size, compressed or not", arguments: [1, 2, 3, 1000, 1 << 20])
    func pieces(_ size: Int) throws {
        let text = Self.text(2)
        for bytes in [text, try Self.compressed(text)] {
            var input = GzipInput()
            var found: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                var piece = bytes[start..<min(start + size, bytes.count)]
                while !piece.isEmpty {
                    let count = try input.push(piece.span) { (text) throws(GeoJSONError) in
                        found.append(contentsOf: text.bytes)
                    }
                    piece = piece.dropFirst(count)
                }
            }
            try input.finish()
            #expect(found == text)
        }
    }

    @Test("is rejected after a few windows if there is no room", arguments: [1, 4])
    func refusal(_ threads: Int) throws {
        let bytes = try Self.compressed(Self.text(400))
        var builder = FeatureStoreBuilder(policy: .reject, rules: FeatureRules())
        builder.admits = { $0 < 1 << 20 }
        var reader = FeatureReader(threads: threads)
        // As from a file: the reader asks for more only when it has cut what it has.
        var (lent, failure) = (0, GeoJSONError?.none)
        do throws(GeoJSONError) {
            try reader.readAll(into: &builder) { (take) throws(GeoJSONError) in
                let piece = bytes[lent..<min(lent + 4096, bytes.count)]
                lent += piece.count
                try take(piece.span)
                return !piece.isEmpty
            }
        } catch { failure = error }
        #expect(failure == .tooLarge)
        #expect(lent < bytes.count)
    }
}
