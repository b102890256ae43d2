// SPDX-License-Identifier: MIT
import JSON

/// Finds the start of a collection's features.
enum CollectionHead {
    /// The offset after the features' opening bracket.
    case features(Int)
    /// The first object's "features" is not an array.
    case oddFeatures
    /// The object is TopoJSON.
    case topology
    /// The first object has no features.
    case otherObject
    /// The first object is a Feature.
    case feature
    /// More text is needed.
    case incomplete

    /// - Parameter start: the offset of the object's brace.
    static func find(in text: LentBytes, from start: Int) -> CollectionHead {
        var cursor = JSONCursor(text, at: start + 1)
        while true {
            switch nextKey(&cursor) {
            case .incomplete: return .incomplete
            case .none: return .otherObject
            case .key(let key):
                guard let opening = cursor.byte else { return .incomplete }
                if isName(key, "features") {
                    return opening == UInt8(ascii: "[") ? .features(cursor.offset + 1) : .oddFeatures
                }
                guard let value = cursor.value() else { return .incomplete }
                if isName(key, "type") {
                    if isName(cursor.bytes(value), "Feature") { return .feature }
                    if isName(cursor.bytes(value), "Topology") { return .topology }
                }
            }
        }
    }

    /// The offset after the opening bracket of an object's first array of objects with positions, as `{"data": [...]}`
    /// has; nil if there is none.
    static func records(
        in text: LentBytes, from start: Int, _ columns: TableColumns
    ) -> (Int, RecordMembers)? {
        var cursor = JSONCursor(text, at: start + 1)
        while case .key = nextKey(&cursor) {
            if cursor.byte == UInt8(ascii: "[") {
                let content = cursor.offset + 1
                if let members = RecordMembers(first: cursor.bytes(content..<text.count), columns) {
                    return (content, members)
                }
            }
            guard cursor.value() != nil else { return nil }
        }
        return nil
    }

    private enum Key {
        /// A key's text, quotation marks included. The cursor is at its value, or at the end.
        case key(LentBytes)
        case none, incomplete
    }

    /// Reads the next member's key and colon.
    private static func nextKey(_ cursor: inout JSONCursor) -> Key {
        _ = cursor.take(UInt8(ascii: ","))
        cursor.skipSpaces()
        guard let first = cursor.byte else { return .incomplete }
        guard first == UInt8(ascii: "\"") else { return .none }
        guard let key = cursor.value() else { return .incomplete }
        guard cursor.take(UInt8(ascii: ":")) else { return cursor.byte == nil ? .incomplete : .none }
        cursor.skipSpaces()
        return .key(cursor.bytes(key))
    }

    /// Whether a JSON text is a string with this content, possibly with escapes.
    private static func isName(_ text: LentBytes, _ name: StaticString) -> Bool {
        let inside = text.dropFirst().dropLast()
        if inside.elementsEqual("\(name)".utf8) { return true }
        guard inside.contains(UInt8(ascii: "\\")), inside.count <= name.utf8CodeUnitCount * 6 else {
            return false
        }
        return (try? JSONReader.parse(text)) == .string("\(name)")
    }
}
