// SPDX-License-Identifier: MIT
import JSON

/// Finds a value in a JSON text by the path of an expression's error.
enum JSONPlace {
    /// - Parameter key: indexes and names in brackets, such as `[1][2]` or `[2]["a"]`; empty for the whole.
    /// - Returns: the range of the value in the text's UTF-8, or of the innermost one that exists on the
    ///   path; nil if the text is not JSON.
    static func range(of key: String, in text: String) -> Range<Int>? {
        guard let document = try? JSONDocument(Array(text.utf8)) else { return nil }
        return document.withRoot { root in
            var element = root
            for step in steps(key) {
                guard let next = child(of: element, step) else { break }
                element = next
            }
            return element.rawRange
        }
    }

    private static func child(of element: JSONElement, _ step: String) -> JSONElement? {
        switch element.kind {
        case .array:
            guard let index = Int(step) else { return nil }
            return element.elements.enumerated().first { $0.offset == index }?.element
        case .object: return element.members.first { $0.key.string?.hasSameBytes(as: step) ?? false }?.value
        default: return nil
        }
    }

    /// The texts between the brackets, without quotation marks.
    private static func steps(_ key: String) -> [String] {
        key.split(separator: "[").map { part in
            String(part.prefix { $0 != "]" }).filter { $0 != "\"" }
        }
    }
}
