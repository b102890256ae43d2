// SPDX-License-Identifier: MIT
import RPC
import JSON

/// Reads a configuration's text according to the table of its members; an error names the line and column of each
/// mistake.
struct ConfigurationReader {
    typealias Problem = Configuration.Problem

    private let text: [UInt8]

    init(_ text: [UInt8]) { self.text = text }

    /// Reads an object's members into a target.
    ///
    /// - Parameter path: the object's path, such as `limits`; empty for the whole configuration.
    func read<Target>(
        _ object: JSONElement, by table: [ConfigurationMember<Target>], path: String, into target: inout Target
    ) throws(Problem) {
        guard object.kind == .object else {
            throw problem(at: object, "\(path.isEmpty ? "the configuration" : path) must be an object")
        }
        var seen: Set<String> = []
        var problems: [Problem] = []
        for (key, element) in object.members {
            do throws(Problem) {
                let name = key.string ?? ""
                let memberPath = path.isEmpty ? name : "\(path).\(name)"
                guard let member = table.first(where: { $0.entry.name.hasSameBytes(as: name) }) else {
                    let known = table.map(\.entry.name).joined(separator: ", ")
                    throw problem(at: key, "\(memberPath) is unknown; known are \(known)")
                }
                guard seen.insert(name).inserted else {
                    throw problem(at: key, "\(memberPath) is given twice")
                }
                try check(element, member.entry.kind, memberPath)
                try member.read(ConfigurationValue(element: element, path: memberPath, reader: self), &target)
            } catch { problems.append(error) }
        }
        for missing in table.map(\.entry) where missing.isRequired && !seen.contains(missing.name) {
            problems.append(problem(at: object, "\(path) must have \(missing.name)"))
        }
        guard problems.isEmpty else { throw Problem(problems) }
    }

    /// Throws if a value is of another kind than the table specifies.
    func check(_ element: JSONElement, _ kind: ConfigurationKind, _ path: String) throws(Problem) {
        switch kind {
        case .text:
            guard let text = element.string, !text.isEmpty, !text.utf8.contains(0) else {
                throw problem(at: element, "\(path) must be a string that is not empty")
            }
        case .integer(let minimum):
            guard let integer = element.integer, integer >= minimum, integer <= 1 << 53 else {
                throw problem(at: element, "\(path) must be an integer from \(minimum) up")
            }
        case .boolean:
            guard element.bool != nil else { throw problem(at: element, "\(path) must be true or false") }
        case .oneOf(let names):
            guard let text = element.string, names.contains(text) else {
                throw problem(at: element, "\(path) must be one of \(names.joined(separator: ", "))")
            }
        case .list(let inner):
            guard element.kind == .array else { throw problem(at: element, "\(path) must be an array") }
            try Problem.gathered(element.elements.enumerated()) { (index, item) throws(Problem) in
                try check(item, inner, "\(path)[\(index)]")
            }
        case .account:
            if element.kind == .number {
                try check(element, .integer(minimum: 0), path)
            } else {
                try check(element, .text, path)
            }
        case .either(let simple, let object):
            guard element.kind == .object || element.string != nil else {
                throw problem(at: element, "\(path) must be a string or an object")
            }
            try check(element, element.kind == .object ? object : simple, path)
        case .expression: break
        case .members, .table, .sourceOptions:
            guard element.kind == .object else { throw problem(at: element, "\(path) must be an object") }
        }
    }

    func problem(at element: JSONElement, _ message: String) -> Problem {
        problem(at: element.rawRange.lowerBound, message)
    }

    /// - Parameter offset: the offset in bytes.
    func problem(at offset: Int, _ message: String) -> Problem {
        let before = text.prefix(max(0, offset))
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Columns are counted in characters, as editors do.
        let column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
        return Problem(description: "line \(line), column \(column): \(message)")
    }
}

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
        element.elements.enumerated().map { ConfigurationValue(element: $1, path: "\(path)[\($0)]", reader: reader) }
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
