// SPDX-License-Identifier: MIT
import JSON

extension ParsingContext {
    /// Parses an operator's expression; `items` begins with the operator's name.
    func parseOperator(_ name: String, _ items: [JSONValue]) -> Node? {
        if let definition = operators.definitions[name] { return definition.parse(self, name, items) }
        if operators.excluded.contains(name) {
            return fail("\"\(name)\" needs a rendered map and is not supported.", 0)
        }
        return fail(
            "Unknown expression \"\(name)\". If you wanted a literal array, use [\"literal\", [...]].", 0)
    }

    /// Parses an operator's expression by the first of its signatures that fits the operands.
    func parse(_ name: String, _ items: [JSONValue], by signatures: [Signature]) -> Node? {
        let count = items.count - 1
        let fitting = signatures.filter { $0.takes(count) }
        var last: ErrorList?
        for signature in fitting {
            let trial = trial()
            last = trial.errors
            guard let arguments = trial.arguments(items, of: signature) else { continue }
            return Node(signature.result, .compound(signature.name ?? name, signature.evaluate), arguments)
        }
        if fitting.count == 1, let last {
            errors.list += last.list
            return nil
        }
        return explain(fitting.isEmpty ? signatures : fitting, items)
    }

    /// Parses the operands by a signature; if they do not fit, records errors and returns nil.
    private func arguments(_ items: [JSONValue], of signature: Signature) -> [Node]? {
        var arguments: [Node] = []
        for index in 1..<max(items.count, 1) {
            guard let node = parse(items[index], index, expecting: signature.parameter(index - 1)) else {
                return nil
            }
            arguments.append(node)
        }
        for (index, node) in arguments.enumerated() {
            _ = at(index + 1).check(signature.parameter(index), accepts: node.type)
        }
        return errors.list.isEmpty ? arguments : nil
    }

    /// Records an error that lists the signatures and the types found instead.
    private func explain(_ signatures: [Signature], _ items: [JSONValue]) -> Node? {
        var found: [String] = []
        for index in 1..<max(items.count, 1) {
            guard let node = parse(items[index], index) else { return nil }
            found.append(node.type.name)
        }
        let expected = signatures.map(\.text).joined(separator: " | ")
        return fail(
            "Expected arguments of type \(expected), but found (\(found.joined(separator: ", "))) instead.")
    }

    /// Parses the operands from an index on, whatever their types.
    func values(_ items: [JSONValue], from start: Int) -> [Node]? {
        var arguments: [Node] = []
        for index in start..<max(items.count, start) {
            guard let node = parse(items[index], index, expecting: .value) else { return nil }
            arguments.append(node)
        }
        return arguments
    }
}
