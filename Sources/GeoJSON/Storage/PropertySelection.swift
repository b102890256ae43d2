// SPDX-License-Identifier: MIT
import JSON

/// The names of the properties to keep in an answer.
public struct PropertySelection: Sendable {
    private let names: [[UInt8]]

    public init(_ names: some Sequence<String>) { self.names = names.map { Array($0.utf8) } }

    /// Whether a key, given as the text between its quotation marks, is one of the names.
    func keeps(key: UnsafeRawBufferPointer) -> Bool {
        if key.contains(UInt8(ascii: "\\")) {
            let decoded = Array(JSONText.string(inside: key).utf8)
            return names.contains(decoded)
        }
        return names.contains { $0.elementsEqual(key) }
    }

    public func keeps(_ name: String) -> Bool { names.contains { $0.elementsEqual(name.utf8) } }
}
