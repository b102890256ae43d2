// SPDX-License-Identifier: MIT
import JSON

/// JSON for people: a member a line, except for objects and arrays that fit into a line.
enum IndentedJSON {
    private static let width = 100

    /// The text, without a line end behind it. The outermost object is always broken into lines.
    static func text(of value: JSONValue) -> String { text(of: value, indent: "", isOutermost: true) }

    private static func text(of value: JSONValue, indent: String, isOutermost: Bool = false) -> String {
        if !isOutermost, let line = line(value, upTo: width - indent.count) { return line }
        let inner = indent + "  "
        func block(_ items: [String], _ open: String, _ close: String) -> String {
            items.isEmpty
                ? open + close : open + "\n" + items.map { inner + $0 }.joined(separator: ",\n") + "\n" + indent + close
        }
        switch value {
        case .object(let object):
            let items = object.members.map { member in
                "\(JSONValue.string(member.key).text): \(text(of: member.value, indent: inner))"
            }
            return block(items, "{", "}")
        case .array(let values): return block(values.map { text(of: $0, indent: inner) }, "[", "]")
        default: return value.text
        }
    }

    /// The value on one line, with a space after commas and colons; nil if it is longer than `limit`, or has
    /// an object in an object.
    private static func line(_ value: JSONValue, upTo limit: Int, isNested: Bool = false) -> String? {
        let line: String
        switch value {
        case .object(let object):
            guard !isNested || object.members.isEmpty else { return nil }
            var items: [String] = []
            for (key, value) in object.members {
                guard let text = Self.line(value, upTo: limit, isNested: true) else { return nil }
                items.append("\(JSONValue.string(key).text): \(text)")
            }
            line = "{" + items.joined(separator: ", ") + "}"
        case .array(let values):
            var items: [String] = []
            for value in values {
                guard let text = Self.line(value, upTo: limit, isNested: isNested) else { return nil }
                items.append(text)
            }
            line = "[" + items.joined(separator: ", ") + "]"
        default: line = value.text
        }
        return line.count <= limit ? line : nil
    }
}
