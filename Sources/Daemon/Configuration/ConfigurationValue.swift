// SPDX-License-Identifier: MIT
import JSON

/// A member's value, checked against the table's kind, and its location.
struct ConfigurationValue {
    let element: JSONElement
    let path: String
    let reader: ConfigurationReader

    var text: String { element.string ?? "" }
    var integer: Int { Int(clamping: element.integer ?? 0) }
    var boolean: Bool { element.bool ?? false }

    /// An array's values.
    var items: [ConfigurationValue] {
        element.elements.enumerated().map {
            ConfigurationValue(element: $1, path: "\(path)[\($0)]", reader: reader)
        }
    }

    func read<Target>(
        by table: [ConfigurationMember<Target>], into target: inout Target
    ) throws(Configuration.Problem) {
        try reader.read(element, by: table, path: path, into: &target)
    }

    func problem(_ message: String) -> Configuration.Problem {
        reader.problem(at: element, "\(path) \(message)")
    }
}
