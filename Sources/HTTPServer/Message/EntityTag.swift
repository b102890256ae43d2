// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// An answer's validator (RFC 9110, section 8.8.3): the process that made it, the revision of the data, and the
/// request. Different answers have different tags, even across restarts.
struct EntityTag: Sendable, Equatable {
    /// A random number that identifies the process.
    let process: UInt64
    let revision: UInt64
    /// A hash of what was requested.
    let request: UInt64
    /// The tag of the uncompressed answer, in quotes. Compressed bytes are a different representation and have another.
    private let plain: String

    private var gzipped: String { "\(plain.dropLast())-gzip\"" }

    init(process: UInt64, revision: UInt64, request: UInt64) {
        (self.process, self.revision, self.request) = (process, revision, request)
        let numbers = [process, revision, request].map { String($0, radix: 16) }
        plain = "\"\(numbers.joined(separator: "-"))\""
    }

    /// Writes the tag in quotes.
    func write(isGzipped: Bool, into bytes: inout ByteWriter) {
        bytes.append(raw: isGzipped ? gzipped : plain)
    }

    /// The representation that a client has if its `If-None-Match` names this answer.
    enum Match: Equatable {
        case plain
        case gzipped
    }

    /// Returns which representation of this answer the client has, according to its `If-None-Match`; nil if none.
    /// Comparison is weak, as the field requires (RFC 9110, section 13.1.2).
    func match(_ field: String) -> Match? { matches(field).first }

    /// Whether an `If-None-Match` matches every answer.
    static func matchesAll(_ field: String) -> Bool { field == "*" }

    /// Whether an `If-Match` names this answer, compressed or not, by strong comparison (RFC 9110, section 13.1.1).
    func isNamed(byIfMatch field: String) -> Bool { !matches(field, strongly: true).isEmpty }

    /// Whether a field names this answer, uncompressed, by strong comparison: then the client can combine parts
    /// of it (RFC 9110, section 8.8.3.2).
    func matchesStrongly(_ field: String) -> Bool { matches(field, strongly: true).contains(.plain) }

    /// The representations of this answer that a field's list of tags names. Weak tags are others by strong comparison.
    private func matches(_ field: String, strongly: Bool = false) -> [Match] {
        field.split(separator: ",").compactMap { entry in
            let entry = entry.trimmingSpaces
            if entry == "*" { return .plain }
            let isWeak = entry.hasPrefix("W/")
            if isWeak, strongly { return nil }
            switch isWeak ? String(entry.dropFirst(2)) : entry {
            case plain: return .plain
            case gzipped: return .gzipped
            default: return nil
            }
        }
    }

    /// A hash of a request and of the part of the source that its answer shows. Nobody can find out by it what the part
    /// is, which is what a rule says.
    static func hash(part: [UInt8], from request: UInt64) -> UInt64 {
        part.isEmpty ? request : request ^ secret.hash(part.span.bytes)
    }

    private static let secret = SipHash.random()

    /// A hash of bytes (FNV-1a, 64 bits).
    static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
