// SPDX-License-Identifier: MIT
import JSON

/// An answer's validator (RFC 9110, section 8.8.3): the process that made it, the revision of the data, and the
/// request. No two answers that differ have the same, not even over restarts.
struct EntityTag: Sendable, Hashable {
    /// A number of the process's own, by chance.
    let process: UInt64
    let revision: UInt64
    /// A hash of what was requested.
    let request: UInt64

    /// Writes the tag in quotes. Compressed bytes are another representation and have another tag.
    func write(isGzipped: Bool, into bytes: inout ByteWriter) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: opaque)
        if isGzipped { bytes.append("-gzip") }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The tag without quotes.
    var opaque: [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(50)
        for (place, number) in [process, revision, request].enumerated() {
            if place > 0 { text.append(UInt8(ascii: "-")) }
            Self.appendHex(number, to: &text)
        }
        return text
    }

    private static func appendHex(_ number: UInt64, to text: inout [UInt8]) {
        var shift = max(0, (63 - min(63, number.leadingZeroBitCount)) / 4 * 4)
        while true {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            if shift == 0 { return }
            shift -= 4
        }
    }

    /// What a client has whose `If-None-Match` names this answer.
    enum Match: Equatable {
        case plain
        case gzipped
    }

    /// Whether a client that sent this `If-None-Match` has the answer already; nil if not. Comparison is weak, as the
    /// field demands (RFC 9110, section 13.1.2).
    func match(_ field: ArraySlice<UInt8>) -> Match? {
        let opaque = opaque
        for part in field.split(separator: UInt8(ascii: ",")) {
            var tag = Self.trimmed(part)
            if tag.elementsEqual("*".utf8) { return .plain }
            if tag.starts(with: "W/".utf8) { tag = tag.dropFirst(2) }
            guard tag.count >= 2, tag.first == UInt8(ascii: "\""), tag.last == UInt8(ascii: "\"") else {
                continue
            }
            tag = tag.dropFirst().dropLast()
            guard tag.starts(with: opaque) else { continue }
            let rest = tag.dropFirst(opaque.count)
            if rest.isEmpty { return .plain }
            if rest.elementsEqual("-gzip".utf8) { return .gzipped }
        }
        return nil
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while text.first == 0x20 || text.first == 0x09 { text.removeFirst() }
        while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
        return text
    }

    /// A hash of bytes (FNV-1a, 64 bits).
    static func hash(_ bytes: some Sequence<UInt8>, from start: UInt64 = 0xCBF2_9CE4_8422_2325) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
