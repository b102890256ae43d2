// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import GeoJSON

/// A file must give what the same bytes give as a stream.
@Suite("Features of a file") struct FileWindowTests {
    private struct Outcome: Equatable {
        var texts: [String] = []
        var skipped: [InvalidFeature] = []
        var reasons: [String: Int] = [:]
        var error: GeoJSONError?
        var advice: [String] = []
    }

    private func outcome(
        _ policy: InvalidFeaturePolicy, _ read: (inout FeatureStoreBuilder) throws(GeoJSONError) -> Void
    ) -> Outcome {
        var builder = FeatureStoreBuilder(policy: policy, promoteId: nil)
        do throws(GeoJSONError) { try read(&builder) } catch { return Outcome(error: error) }
        var outcome = Outcome(
            skipped: builder.firstSkipped, reasons: builder.skippedReasons,
            advice: builder.advice.warnings(builder.rules))
        let store = builder.finish()
        outcome.texts = (0..<store.count).map { store.text($0) }
        return outcome
    }

    /// Reads a text in the given pieces as a stream.
    ///
    /// - Parameter threads: the number of pieces that are cut before the first is parsed, since a reference
    ///   system may follow them.
    private func streamed(_ text: [UInt8], piece: Int, threads: Int, _ policy: InvalidFeaturePolicy) -> Outcome {
        outcome(policy) { (builder) throws(GeoJSONError) in
            var reader = FeatureReader(threads: threads, window: piece)
            var offset = 0
            try reader.readAll(into: &builder) { (take) throws(GeoJSONError) in
                let bytes = Array(text[offset..<min(text.count, offset + piece)])
                offset += bytes.count
                if !bytes.isEmpty { try take(bytes.span) }
                return !bytes.isEmpty
            }
        }
    }

    /// Reads a text as a file.
    private func read(_ text: [UInt8], piece: Int, threads: Int, _ policy: InvalidFeaturePolicy) throws -> Outcome {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString)"
        defer { unlink(path) }
        try Data(text).write(to: URL(fileURLWithPath: path))
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return outcome(policy) { (builder) throws(GeoJSONError) in
            try FeatureFileReader.read(
                descriptor: descriptor, into: &builder, threads: threads, windowSize: piece, window: piece)
        }
    }

    /// A feature whose strings have brackets, quotation marks and backslashes, and which may be long.
    private func oddFeature(_ number: Int) -> String {
        let parts = [
            #"\\"#, #"\""#, "]}", "[{", "é", #"\u00e9"#, ",", #"\\\""#,
            "\"},{\"".replacing("\"", with: "\\\""),
        ]
        let length = Int.random(in: 0...20) == 0 ? 200 : Int.random(in: 0...12)
        let value = (0..<length).map { _ in parts.randomElement() ?? "" }.joined()
        let space = Int.random(in: 0...3) == 0 ? "\n" : ""
        return feature(
            "\(number)", Int.random(in: 0...30) == 0 ? "[1,100]" : "[\(number % 180),2]",
            #"{"a":\#(space)"\#(value)"}"#)
    }

    private func oddText() -> [UInt8] {
        let features = (0..<Int.random(in: 1...60)).map(oddFeature)
        let commas = [",", " ,\n", ",\n", "\n\n,"]
        let list = features.joined(separator: commas.randomElement() ?? ",")
        let text =
            switch Int.random(in: 0...5) {
            case 0: #"{"name":"x}","type":"FeatureCollection","features":[ \#(list) ] }"#
            case 1:
                #"{"features":[\#(list)],"crs":{"type":"name","properties":{"name":"EPSG:3857"}},"type":"FeatureCollection","n":[{}]}"#
            case 2: "[\(list)]\n"
            case 3: features.map { $0.replacing("\n", with: "") }.joined(separator: "\n")
            case 4: features.map { "\u{1E}\($0)\n" }.joined()
            default: features.joined(separator: "\n ")
            }
        return Array(text.utf8)
    }

    /// Removes, repeats or replaces bytes.
    private func damaged(_ text: [UInt8]) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...3) where !text.isEmpty {
            let offset = text.indices.randomElement() ?? 0
            switch Int.random(in: 0...3) {
            case 0: text.removeSubrange(offset...)
            case 1: text.remove(at: offset)
            case 2: text[offset] = #"{}[]",\ x"#.utf8.randomElement() ?? 0
            default: text.insert(contentsOf: #"]"#.utf8, at: offset)
            }
        }
        return text
    }

    @Test("are read like a stream, for any text, size and number of threads", arguments: [false, true])
    func sameAsStream(_ isDamaged: Bool) throws {
        var errors = 0
        for _ in 0..<75 {
            let text = isDamaged ? damaged(oddText()) : oddText()
            let piece = Int.random(in: 1...4) == 1 ? Int.random(in: 1...40) : Int.random(in: 40...1500)
            for policy in [InvalidFeaturePolicy.skip, .reject] {
                for threads in [1, 2, 4] {
                    let expected = streamed(text, piece: piece, threads: threads, policy)
                    if expected.error != nil { errors += 1 }
                    let found = try read(text, piece: piece, threads: threads, policy)
                    #expect(
                        found == expected,
                        "\(threads) threads, \(piece) bytes: \(String(decoding: text, as: UTF8.self))")
                }
            }
        }
        #expect(errors > 10)
    }

    @Test("a feature that is longer than several windows, and one that is too long") func longFeatures() throws {
        let few = (0..<50).map { feature("\($0)", "[1,2]") }
        for length in [300_000, 3_000_000, FeatureCutter.longestPart + 100_000] {
            let long = feature("9", "[3,4]", #"{"a":"\#(String(repeating: "{", count: length))"}"#)
            let list = (few + [long] + few).joined(separator: ",")
            let text = Array(#"{"type":"FeatureCollection","features":[\#(list)]}"#.utf8)
            for threads in [1, 4] {
                let expected = streamed(text, piece: 1 << 16, threads: threads, .reject)
                #expect((expected.error == nil) == (length < FeatureCutter.longestPart))
                #expect(try read(text, piece: 1 << 16, threads: threads, .reject) == expected)
            }
        }
    }

    @Test("begin at the descriptor's offset, and end where the file does, also at a window's end")
    func offsets() throws {
        let lines = (0..<200).map { feature("\($0)", "[1,2]") + "\n" }.joined()
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString)"
        defer { unlink(path) }
        try Data(("junk\n" + lines).utf8).write(to: URL(fileURLWithPath: path))
        for piece in [lines.utf8.count / 8, lines.utf8.count / 8 + 1, 64] {
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            #expect(lseek(descriptor, 5, SEEK_SET) == 5)
            let read = outcome(.reject) { (builder) throws(GeoJSONError) in
                try FeatureFileReader.read(
                    descriptor: descriptor, into: &builder, threads: 2, windowSize: piece, window: piece)
            }
            #expect(read.error == nil)
            #expect(read.texts.count == 200)
        }
    }
}
