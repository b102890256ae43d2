// SPDX-License-Identifier: MIT
import Foundation
import JSON
import Testing

@testable import GeoJSON

@Suite("Files of features")
struct FeatureFileReaderTests {
    private static let features = (0..<5).map {
        feature("\($0)", "[\($0),1]", #"{"t":"a}]\"[{","n":\#($0)}"#)
    }

    private static let files: [(name: String, text: String)] = [
        ("collection", #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#),
        (
            "members around",
            #" {"name":"x}","crs":{"a":[1]},"features":[ \#(features.joined(separator: "\n,\n")) ] , "type":"FeatureCollection","n":[{}]} "#
        ),
        (
            "byte order mark",
            "\u{FEFF}" + #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
        ),
        ("lines", features.joined(separator: "\n")),
        ("lines with CRLF and blank ones", features.joined(separator: "\r\n\r\n") + "\r\n"),
        ("sequence", features.map { "\u{1E}\($0)\n" }.joined()),
        ("array", "[" + features.joined(separator: ",\n") + "]\n"), ("one after another", features.joined()),
        (
            "laid out one after another",
            features.map { $0.replacingOccurrences(of: ",\"geometry", with: "\n,\"geometry") }.joined(separator: "\n")
        ),
    ]

    private func read(
        _ pieces: [[UInt8]], policy: InvalidFeaturePolicy = .reject
    ) throws -> (store: FeatureStore, skipped: Int) {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString)"
        defer { unlink(path) }
        try Data(pieces.joined()).write(to: URL(fileURLWithPath: path))
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var builder = FeatureStoreBuilder(policy: policy, promoteId: nil)
        try FeatureFileReader.read(descriptor: descriptor, into: &builder, threads: 2)
        let skipped = builder.skipped
        return (builder.finish(), skipped)
    }

    @Test("every form", arguments: files.indices) func forms(_ index: Int) throws {
        let (store, _) = try read([Array(Self.files[index].text.utf8)])
        #expect((0..<store.count).map { store.text($0) } == Self.features)
    }

    @Test("every form, split at every byte", arguments: files.indices) func cuts(_ index: Int) throws {
        let bytes = Array(Self.files[index].text.utf8)
        for cut in 0...bytes.count {
            #expect(try push([Array(bytes[..<cut]), Array(bytes[cut...])]) == 5)
        }
        #expect(try push(bytes.map { [$0] }) == 5)
    }

    /// How many features the pieces of a text held that was pushed piece by piece.
    private func push(_ pieces: [[UInt8]]) throws -> Int {
        var reader = FeatureCutter()
        var count = 0
        func take(_ piece: PieceText) {
            let piece = piece.joined()
            if piece.header != nil {
                count += piece.text.count { $0 == 10 }
            } else if let texts = piece.texts {
                count += texts.count
            } else if case .array(let values)? = try? JSONReader.parse(piece.text) {
                count += values.count
            } else {
                count = -99
            }
        }
        for piece in pieces { try reader.push(piece.span, take) }
        try reader.finish(take)
        return count
    }

    @Test(
        "small pieces of a long feature are not searched again and again",
        arguments: [#"{"type":"FeatureCollection","features":["#, "", "a,lon,lat\n"])
    func smallPieces(_ start: String) throws {
        var reader = FeatureCutter()
        let feature =
            #"{"type":"Feature","geometry":null,"properties":{"a":"\#(String(repeating: "b", count: 200_000))"#
        for byte in Array((start + feature).utf8) {
            let piece = [byte]
            try reader.push(piece.span) { _ in }
        }
        // At most one search for each byte up to 4 KiB, and then one for each eighth.
        #expect(reader.cuts < 5000)
    }

    @Test(
        "text without features is rejected",
        arguments: [
            "[", "7", "{", "[{}", "[{}]]", "hello\nyou", "a,b\n1,2\n",
            #"{"type":"FeatureCollection","features":["#,
            #"{"type":"FeatureCollection","features":[1}"#,
            #"{"type":"FeatureCollection","features":[]"#, #"{"type":"FeatureCollection","features":[]}}"#,
            #"{"type":"Other","features":[]}"#, #"{"features":[]}"#, #"{"a":1"#,
            #"{"type":"FeatureCollection","features":[{"type":"Feature"}{"type":"Feature"}]}"#,
            #"{"type":"FeatureCollection","features":[]} x"#, #"{"type":"Feature"}"#,
        ])
    func refused(_ text: String) {
        #expect(throws: GeoJSONError.self) { _ = try read([Array(text.utf8)]) }
    }

    @Test("features are found under a name that is written with escapes") func escapedName() throws {
        let text = #"{"type":"FeatureCollection","f\u0065atures":[\#(Self.features[0])]}"#
        #expect(try read([Array(text.utf8)]).store.text(0) == Self.features[0])
    }

    @Test(
        "a collection whose features are not one array is rejected even if invalid features are skipped",
        arguments: [
            #"{"type":"FeatureCollection","features":null}"#, #"{"features":{},"type":"FeatureCollection"}"#,
            #"{"type":"FeatureCollection","features":[],"features":[{"a":1}]}"#,
            #"{"type":"FeatureCollection","features":[],"f\u0065atures":[{"a":1}]}"#,
        ])
    func oddFeatures(_ text: String) {
        #expect {
            try read([Array(text.utf8)], policy: .skip)
        } throws: {
            guard case GeoJSONError.malformed(let message, _)? = $0 as? GeoJSONError else { return false }
            return message.contains("\"features\"")
        }
    }

    @Test("an empty file and an empty collection have no features") func empty() throws {
        #expect(try read([]).store.count == 0)
        #expect(try read([Array(#"{"type":"FeatureCollection","features":[ ]}"#.utf8)]).store.count == 0)
    }

    @Test("a comma after the last feature is rejected, wherever the text is split") func trailingComma() {
        let bytes = Array(#"{"type":"FeatureCollection","features":[{"a":1} , ]}"#.utf8)
        for cut in 0...bytes.count {
            let count = try? push([Array(bytes[..<cut]), Array(bytes[cut...])])
            #expect(count == nil || count == -99, "cut at \(cut)")
        }
    }

    @Test("one feature, on one line or on several") func single() throws {
        #expect(try read([Array(Self.features[3].utf8)]).store.text(0) == Self.features[3])
        let laidOut = Self.features[3].replacingOccurrences(of: ",\"geometry", with: ",\n  \"geometry")
        let (store, _) = try read([Array((laidOut + "\n").utf8)])
        #expect(store.count == 1 && store.text(0) == Self.features[3])
    }

    @Test("a line that is not JSON is one invalid feature") func badLine() throws {
        let text = [Self.features[0], "{oops", "{},{}", Self.features[1]].joined(separator: "\n")
        let (store, skipped) = try read([Array(text.utf8)], policy: .skip)
        #expect(store.count == 2)
        #expect(skipped == 2)
        let error = #expect(throws: GeoJSONError.self) { _ = try read([Array(text.utf8)]) }
        #expect(error == .badFeature(InvalidFeature(index: 1, fault: .badJSON, line: 2)))
    }

    @Test("files of many windows keep their order") func large() throws {
        let features = (0..<40_000).map {
            feature("\($0)", "[\($0 % 180),2]", #"{"name":"place \#($0)","value":\#($0)}"#)
        }
        let text = #"{"type":"FeatureCollection","features":["# + features.joined(separator: ",\n") + "]}"
        let (store, _) = try read([Array(text.utf8)])
        #expect(store.count == 40_000)
        for index in stride(from: 0, to: 40_000, by: 997) { #expect(store.text(index) == features[index]) }
    }
}
