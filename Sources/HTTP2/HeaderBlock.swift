// SPDX-License-Identifier: MIT
import JSON

/// The fields of a request's or a response's head, or trailers: names in lower case, in order. Pseudo-fields such as
/// `:path` come first.
package struct HeaderBlock: Sendable {
    package private(set) var bytes: [UInt8] = []
    /// For each field, where its name and its value end.
    package private(set) var ends: [(name: Int, value: Int)] = []

    package init() {}

    /// The head of a response.
    package init(status: Int) { append(":status", "\(status)") }

    package mutating func append(_ name: StaticString, _ value: String) {
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        let name = bytes.count
        bytes.append(contentsOf: value.utf8)
        ends.append((name, bytes.count))
    }

    package mutating func append(_ name: String, _ value: String) {
        bytes.append(contentsOf: name.utf8)
        let name = bytes.count
        bytes.append(contentsOf: value.utf8)
        ends.append((name, bytes.count))
    }

    package mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        bytes.append(contentsOf: name.bytes)
        let name = bytes.count
        bytes.append(contentsOf: value.bytes)
        ends.append((name, bytes.count))
    }

    /// The size that limits of fields count: each has 32 bytes more than its name and value (RFC 9113, section 6.5.2).
    package var size: Int { bytes.count + 32 * ends.count }

    /// The value of the first field with a name; nil if there is none.
    package subscript(name: StaticString) -> ArraySlice<UInt8>? {
        name.withUTF8Buffer { name in
            var start = 0
            for end in ends {
                if end.name - start == name.count, bytes[start..<end.name].elementsEqual(name) {
                    return bytes[end.name..<end.value]
                }
                start = end.value
            }
            return nil
        }
    }

    /// The same as text.
    package func text(_ name: StaticString) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }

    /// All fields.
    package var fields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        var start = 0
        return ends.map { end in
            defer { start = end.value }
            return (bytes[start..<end.name], bytes[end.name..<end.value])
        }
    }

    /// The values of all fields with a name, joined by commas, as text; nil if there is none.
    package func joined(_ name: StaticString) -> String? {
        let values = name.withUTF8Buffer { name in fields.filter { $0.name.elementsEqual(name) }.map(\.value) }
        guard !values.isEmpty else { return nil }
        return values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
    }
}
