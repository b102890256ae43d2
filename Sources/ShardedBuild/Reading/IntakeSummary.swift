// SPDX-License-Identifier: MIT
import JSON
import SourceEngine
import SystemSupport

/// What reading the inputs, or some of them, has found besides the features themselves.
struct IntakeSummary: Sendable {
    /// Loaded features: each is a point.
    var points = 0
    var accepted = 0
    var skippedReasons: [String: Int] = [:]
    var bounds: Box?
    /// The values of `partitionBy`, by the number that the features have.
    var partitions: [JSONValue] = []
    /// The sizes of the features' text, and of the keys that are longer than a record has room for.
    var textBytes = 0
    var stringBytes = 0

    mutating func include(_ place: (longitude: Double, latitude: Double)) {
        var bounds = bounds ?? .nowhere
        bounds.include(place)
        self.bounds = bounds
    }

    /// Adds what was read after this, but for its partitions.
    mutating func add(_ next: IntakeSummary) {
        points += next.points
        accepted += next.accepted
        textBytes += next.textBytes
        stringBytes += next.stringBytes
        skippedReasons.merge(next.skippedReasons, uniquingKeysWith: +)
        guard let edges = next.bounds?.edges, edges.count == 4 else { return }
        include((edges[0], edges[1]))
        include((edges[2], edges[3]))
    }

    static func checkCount(_ points: Int) throws(BuildError) {
        guard points <= Int(UInt32.max / 2) else {
            throw BuildError("there are more than \(UInt32.max / 2) points, the most that can be numbered")
        }
    }

    var json: JSONValue {
        .object([
            "points": .number(Double(points)), "accepted": .number(Double(accepted)),
            "skippedReasons": .object(
                JSONObject(skippedReasons.sorted { $0.key < $1.key }.map { ($0.key, .number(Double($0.value))) })),
            "bounds": bounds.map { .array($0.edges.map(JSONValue.number)) } ?? .null,
            "partitions": .array(partitions), "textBytes": .number(Double(textBytes)),
            "stringBytes": .number(Double(stringBytes)),
        ])
    }

    init() {}

    init?(_ value: JSONValue) {
        guard case .object(let object) = value, case .number(let points)? = object["points"],
            case .number(let accepted)? = object["accepted"], case .object(let reasons)? = object["skippedReasons"],
            case .array(let partitions)? = object["partitions"], let points = Int(exactly: points),
            let accepted = Int(exactly: accepted), case .number(let textBytes)? = object["textBytes"],
            case .number(let stringBytes)? = object["stringBytes"], let textBytes = Int(exactly: textBytes),
            let stringBytes = Int(exactly: stringBytes)
        else { return nil }
        (self.points, self.accepted, self.partitions) = (points, accepted, partitions)
        (self.textBytes, self.stringBytes) = (textBytes, stringBytes)
        for (name, count) in reasons.members {
            if case .number(let count) = count { skippedReasons[name] = Int(exactly: count) }
        }
        if case .array(let edges)? = object["bounds"] {
            bounds = Box(edges: edges.compactMap { if case .number(let edge) = $0 { edge } else { nil } })
        }
    }
}

/// A feature as it is sorted by its key: 56 bytes.
struct SortRecord: BitwiseCopyable, Sendable {
    /// Orders keys of one kind as far as 8 bytes can.
    var prefix: UInt64
    /// Where the string begins in the file of strings, if 8 bytes do not hold it.
    var text: UInt64
    var x: Double
    var y: Double
    var weight: Double
    var row: UInt32
    var textCount: UInt32
    var partition: UInt32
    var kind: UInt32
}

extension SortRecord {
    /// The key as `SortKey` compares it.
    static func key(_ key: SortKey) -> (kind: UInt32, prefix: UInt64, text: [UInt8]) {
        switch key {
        case .number(let number):
            let bits = number.bitPattern
            return (0, bits >> 63 == 1 ? ~bits : bits | 1 << 63, [])
        case .text(let bytes):
            var prefix: UInt64 = 0
            for index in 0..<8 { prefix = prefix << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
            // Up to 8 bytes, none of them zero, are in the prefix.
            return (1, prefix, bytes.count > 8 || bytes.contains(0) ? bytes : [])
        case .none: return (2, 0, [])
        }
    }

    /// Whether a feature comes before another: by their keys, and equal ones by their rows.
    static func isBefore(_ a: SortRecord, _ b: SortRecord, _ strings: UnsafeBufferPointer<UInt8>) -> Bool {
        if a.kind != b.kind { return a.kind < b.kind }
        if a.prefix != b.prefix { return a.prefix < b.prefix }
        if a.textCount > 0 || b.textCount > 0 {
            let (first, second) = (a.string(strings), b.string(strings))
            if first.lexicographicallyPrecedes(second) { return true }
            if second.lexicographicallyPrecedes(first) { return false }
        }
        return a.row < b.row
    }

    private func string(_ strings: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        if textCount > 0 { return Array(strings[Int(text)..<Int(text) + Int(textCount)]) }
        return (0..<8 - prefix.trailingZeroBitCount / 8).map {
            UInt8(truncatingIfNeeded: prefix >> UInt64(56 - 8 * $0))
        }
    }
}
