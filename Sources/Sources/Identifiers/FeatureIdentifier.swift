// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

/// A feature's id as it is compared: a number by its value (1 is 1.0), a string by its bytes; the number 1
/// and the string "1" differ.
public struct FeatureIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// A string's bytes after a quotation mark, or a number's text as JavaScript prints it.
    private let bytes: [UInt8]

    /// Nil where the value is neither a number nor a string.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let text): bytes = [UInt8(ascii: "\"")] + text.utf8
        case .number(let number): bytes = Array(String(javaScript: number).utf8)
        default: return nil
        }
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads an id's JSON text; nil where it is none.
    package init?(json text: UnsafeRawBufferPointer) {
        if let plain = Self.plain(text) {
            self.init(bytes: Array(plain))
            return
        }
        guard let value = try? JSONReader.parse(text) else { return nil }
        self.init(value)
    }

    /// The `stableHash` of an id's JSON text, mostly without allocation; nil where it is none.
    package static func stableHash(json text: UnsafeRawBufferPointer) -> UInt64? {
        if let plain = plain(text) { return hash(plain) }
        return FeatureIdentifier(json: text)?.stableHash
    }

    /// The bytes of what needs no decoding: strings without escapes and short integers.
    private static func plain(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let first = text.first, let last = text.last else { return nil }
        if first == UInt8(ascii: "\"") {
            let isPlain = text.count >= 2 && last == first && !text.contains(UInt8(ascii: "\\"))
            return isPlain ? UnsafeRawBufferPointer(rebasing: text.dropLast()) : nil
        }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let isShort = text.count <= 15 && (first != UInt8(ascii: "0") || text.count == 1)
        return isShort && text.allSatisfy({ digits.contains($0) }) ? text : nil
    }

    /// The id as JSON text, for messages.
    public var description: String {
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.first == UInt8(ascii: "\"") ? text + "\"" : text
    }

    /// Writes the id as JSON, which reads as the same id.
    package func write(into output: inout ByteWriter) {
        guard bytes.first == UInt8(ascii: "\"") else { return output.append(contentsOf: bytes) }
        bytes.dropFirst().withUnsafeBytes { output.append(json: $0) }
    }

    /// A hash that is the same in every process.
    package var stableHash: UInt64 { bytes.withUnsafeBytes { Self.hash($0) } }

    /// FNV-1a of 64 bits, with a last mixing step so that all its bits are good.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash ^= hash >> 32
        return hash &* 0x9e37_79b9_7f4a_7c15
    }
}
