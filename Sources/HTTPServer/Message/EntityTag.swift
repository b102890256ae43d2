// SPDX-License-Identifier: MIT
import JSON

/// An answer's validator (RFC 9110, section 8.8.3): the process that made it, the revision of the data, and the
/// request. Different answers have different tags, even across restarts.
struct EntityTag: Sendable, Hashable {
    /// A random number that identifies the process.
    let process: UInt64
    let revision: UInt64
    /// A hash of what was requested.
    let request: UInt64
    /// The tag of the uncompressed answer, in quotes.
    private let quoted: [UInt8]

    init(process: UInt64, revision: UInt64, request: UInt64) {
        (self.process, self.revision, self.request) = (process, revision, request)
        var text: [UInt8] = []
        text.reserveCapacity(52)
        for number in [process, revision, request] {
            text.append(UInt8(ascii: text.isEmpty ? "\"" : "-"))
            text += String(number, radix: 16).utf8
        }
        quoted = text + [UInt8(ascii: "\"")]
    }

    static func == (a: Self, b: Self) -> Bool {
        (a.process, a.revision, a.request) == (b.process, b.revision, b.request)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(process)
        hasher.combine(revision)
        hasher.combine(request)
    }

    /// Writes the tag in quotes. Compressed bytes are a different representation and have a different tag.
    func write(isGzipped: Bool, into bytes: inout ByteWriter) {
        guard isGzipped else { return bytes.append(contentsOf: quoted) }
        bytes.append(contentsOf: quoted.dropLast())
        bytes.append("-gzip\"")
    }

    /// The representation that a client has if its `If-None-Match` names this answer.
    enum Match: Equatable {
        case plain
        case gzipped
    }

    /// Returns which representation of this answer the client has, according to its `If-None-Match`; nil if none.
    /// Comparison is weak, as the field requires (RFC 9110, section 13.1.2).
    func match(_ field: ArraySlice<UInt8>) -> Match? {
        if field.hasSameBytes(as: quoted) { return .plain }
        let text = quoted.span.extracting(1..<(quoted.count - 1))
        let field = field.span
        var start = 0
        while start <= field.count {
            var end = start
            while end < field.count, field[end] != UInt8(ascii: ",") { end += 1 }
            if let match = Self.match(field.extracting(start..<end), text) { return match }
            start = end + 1
        }
        return nil
    }

    /// Whether an `If-None-Match` matches every answer.
    static func matchesAll(_ field: ArraySlice<UInt8>) -> Bool { field.hasSameBytes(as: [UInt8(ascii: "*")]) }

    /// Whether an `If-Match` names this answer, compressed or not, by strong comparison (RFC 9110, section 13.1.1).
    func isNamed(byIfMatch field: ArraySlice<UInt8>) -> Bool {
        String(decoding: field, as: UTF8.self).split(separator: ",").contains { entry in
            !entry.trimmingSpaces.hasPrefix("W/") && match(Array(entry.utf8)[...]) != nil
        }
    }

    /// Whether a field names this answer, uncompressed, by strong comparison: then the client can combine parts
    /// of it (RFC 9110, section 8.8.3.2).
    func matchesStrongly(_ field: String) -> Bool {
        field.split(separator: ",").contains { entry in
            !entry.trimmingSpaces.hasPrefix("W/") && match(Array(entry.utf8)[...]) == .plain
        }
    }

    /// The result for one tag of the list.
    private static func match(_ entry: Span<UInt8>, _ text: Span<UInt8>) -> Match? {
        var (start, end) = (0, entry.count)
        while start < end, entry[start] == 0x20 || entry[start] == 0x09 { start += 1 }
        while start < end, entry[end - 1] == 0x20 || entry[end - 1] == 0x09 { end -= 1 }
        if end - start == 1, entry[start] == UInt8(ascii: "*") { return .plain }
        if end - start > 2, entry[start] == UInt8(ascii: "W"), entry[start + 1] == UInt8(ascii: "/") {
            start += 2
        }
        guard end - start >= text.count + 2, entry[start] == UInt8(ascii: "\""),
            entry[end - 1] == UInt8(ascii: "\"")
        else { return nil }
        for index in 0..<text.count where entry[start + 1 + index] != text[index] { return nil }
        switch end - start - text.count - 2 {
        case 0: return .plain
        case gzipSuffix.count:
            for (index, byte) in gzipSuffix.enumerated()
            where entry[start + 1 + text.count + index] != byte { return nil }
            return .gzipped
        default: return nil
        }
    }

    private static let gzipSuffix = Array("-gzip".utf8)

    /// A hash of bytes (FNV-1a, 64 bits).
    static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
