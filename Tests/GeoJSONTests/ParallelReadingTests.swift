// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import Testing

@testable import GeoJSON

@Suite("Reading on several threads") struct ParallelReadingTests {
    /// What reading gives, or why it fails.
    private struct Outcome: Equatable {
        var texts: [String] = []
        var longitudes: [Double] = []
        var skipped: [InvalidFeature] = []
        var reasons: [String: Int] = [:]
        var groups = RowGroups()
        var error: GeoJSONError?
    }

    private func read(
        _ text: String, threads: Int, piece: Int, policy: InvalidFeaturePolicy, most: Int = .max,
        spill: TextSpill? = nil, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> Outcome {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString)"
        defer { unlink(path) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var rules = FeatureRules()
        rules.geometries = .multipoint
        var builder = FeatureStoreBuilder(policy: policy, rules: rules)
        builder.admits = { $0 <= most }
        builder.spill = spill
        do throws(GeoJSONError) {
            try FeatureFileReader.read(
                descriptor: descriptor, into: &builder, threads: threads, windowSize: piece, window: piece,
                isCancelled: isCancelled)
        } catch {
            return Outcome(error: error)
        }
        var outcome = Outcome(
            skipped: builder.firstSkipped, reasons: builder.skippedReasons, groups: builder.groups)
        let store = builder.finish()
        outcome.texts = (0..<store.count).map { store.text($0) }
        outcome.longitudes = try #require(store.takeCoordinates(threads: 1) { false }).arrays.longitudes
        return outcome
    }

    /// Features of very different lengths; some are invalid, some are of several rows.
    private static func features(_ count: Int) -> [String] {
        (0..<count).map { number in
            switch number % 97 {
            case 13: feature("\(number)", "[500,1]")
            case 50:
                #"{"type":"Feature","id":\#(number),"geometry":{"type":"MultiPoint","coordinates":[[1,2],[3,4]]},"properties":{}}"#
            case 96: feature("\(number)", "[1,95]", #"{"a":"\#(String(repeating: "x", count: 3000))"}"#)
            default:
                feature(
                    "\(number)", "[\(Double(number) / 100),2]",
                    #"{"a":"\#(String(repeating: "é", count: number % 40))"}"#)
            }
        }
    }

    private static let forms: [(name: String, text: @Sendable ([String]) -> String)] = [
        ("collection", { #"{"type":"FeatureCollection","features":[\#($0.joined(separator: ",\n"))]}"# }),
        ("lines", { $0.joined(separator: "\n") }),
        ("sequence", { $0.map { "\u{1E}\($0)\n" }.joined() }),
        ("one after another", { $0.joined() }),
    ]

    @Test("gives the same features for any number of threads and size of pieces", arguments: forms.indices)
    func sameOutcome(_ form: Int) throws {
        let text = Self.forms[form].text(Self.features(2000))
        let one = try read(text, threads: 1, piece: 1 << 20, policy: .skip)
        #expect(one.texts.count > 1900)
        #expect(one.skipped.count == 20)
        #expect(one.error == nil)
        #expect(one.reasons.values.reduce(0, +) == 41)
        for (threads, piece) in [(1, 700), (2, 300), (3, 4096), (4, 1 << 20), (8, 1000)] {
            #expect(try read(text, threads: threads, piece: piece, policy: .skip) == one)
        }
    }

    @Test("reports the first fault of the text, whichever thread finds one", arguments: forms.indices)
    func firstFault(_ form: Int) throws {
        var features = Self.features(13)
        features += (0..<300).map { feature("\($0)", "[1,2]") }
        features.append(feature("9", "[1,200]"))
        features += (0..<100).map { feature("\($0)", "[1,300]") }
        // The text itself is cut off behind the bad features.
        let text = String(Self.forms[form].text(features).dropLast(40))
        for threads in [1, 2, 4, 8] {
            for piece in [150, 1000, 4096, 1 << 20] {
                let error = try read(text, threads: threads, piece: piece, policy: .reject).error
                #expect(error?.invalidFeature?.index == 313, "\(threads) threads, \(piece) bytes")
            }
        }
    }

    @Test("refuses more points than can be numbered, for any number of threads") func tooMany() throws {
        let text = Array(Self.forms[1].text((0..<300).map { feature("\($0)", "[1,2]") }).utf8)
        for threads in [1, 4] {
            for most in [299, 300] {
                var builder = FeatureStoreBuilder(policy: .reject, rules: FeatureRules())
                builder.mostRows = most
                var reader = FeatureReader(threads: threads, window: 1000)
                var failure: GeoJSONError?
                do throws(GeoJSONError) {
                    try reader.push(text.span, into: &builder)
                    try reader.finish(into: &builder)
                } catch { failure = error }
                #expect(failure == (most < 300 ? .tooMany(most) : nil))
            }
        }
    }

    @Test("stops at the same feature when there is no room, and when cancelled") func refused() throws {
        let text = Self.forms[1].text(Self.features(12) + (0..<3000).map { feature("\($0)", "[1,2]") })
        for threads in [1, 4] {
            #expect(try read(text, threads: threads, piece: 1000, policy: .reject, most: 50_000).error == .tooLarge)
            let looks = Mutex(0)
            let outcome = try read(text, threads: threads, piece: 500, policy: .reject) {
                looks.withLock { looks in
                    looks += 1
                    return looks > 20
                }
            }
            #expect(outcome.error == .cancelled)
        }
    }

    @Test("text written to a file is the same text", arguments: [1, 3000, 200_000, 1 << 30])
    func spill(_ bytes: Int) throws {
        let text = Self.features(4000).joined(separator: "\n")
        let whole = try read(text, threads: 1, piece: 1 << 20, policy: .skip)
        for threads in [1, 4] {
            let sinks = Mutex<[MemorySink]>([])
            let spill = TextSpill(from: bytes) {
                let sink = MemorySink()
                sinks.withLock { $0.append(sink) }
                return sink
            }
            #expect(try read(text, threads: threads, piece: 2048, policy: .skip, spill: spill) == whole)
            let made = sinks.withLock { $0 }
            #expect(made.count == (bytes == 1 << 30 ? 0 : 1))
            #expect(made.allSatisfy { !$0.hasOverlap })
        }
    }

    @Test("text without a file stays in memory") func spillFails() throws {
        let text = Self.features(500).joined(separator: "\n")
        let spill = TextSpill(from: 100) { nil }
        #expect(
            try read(text, threads: 4, piece: 2048, policy: .skip, spill: spill)
                == read(text, threads: 1, piece: 1 << 20, policy: .skip))
    }
}

/// Text of a "file" that is an array.
private final class MemorySink: TextSink {
    private struct State {
        var bytes: [UInt8] = []
        var isWritten: [Bool] = []
        var hasOverlap = false
    }

    private let state = Mutex(State())

    var hasOverlap: Bool { state.withLock { $0.hasOverlap } }

    func write(_ part: UnsafeRawBufferPointer, at offset: Int) {
        state.withLock { state in
            let missing = offset + part.count - state.bytes.count
            if missing > 0 {
                state.bytes += Array(repeating: 0, count: missing)
                state.isWritten += Array(repeating: false, count: missing)
            }
            for (place, byte) in part.enumerated() {
                if state.isWritten[offset + place] { state.hasOverlap = true }
                state.isWritten[offset + place] = true
                state.bytes[offset + place] = byte
            }
        }
    }

    func finish(count: Int) -> any FeatureText {
        state.withLock { MemoryText($0.isWritten.allSatisfy { $0 } ? Array($0.bytes[..<count]) : []) }
    }
}

private final class MemoryText: FeatureText, @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        self.bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }

    var isDamaged: Bool { false }
    var isEvictable: Bool { true }

    func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool { true }

    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? {
        let range = place..<min(bytes.count, place + window.count)
        window.copyBytes(from: bytes[range])
        return range
    }

    func verify(goesOn: () -> Bool) -> Bool { true }
}
