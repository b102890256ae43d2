// SPDX-License-Identifier: MIT
import JSON

extension JSONValue {
    /// The value over several lines, indented.
    public func indented(_ depth: Int = 0) -> String {
        let (inner, outer) = (String(repeating: "  ", count: depth + 1), String(repeating: "  ", count: depth))
        switch self {
        case .object(let object) where !object.members.isEmpty:
            let lines = object.members.map {
                "\(inner)\(JSONValue.string($0.key).text): \($0.value.indented(depth + 1))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        case .array(let values) where values.contains(where: \.isContainer):
            let lines = values.map { inner + $0.indented(depth + 1) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        default: return text
        }
    }

    private var isContainer: Bool {
        switch self {
        case .object, .array: true
        default: false
        }
    }
}
