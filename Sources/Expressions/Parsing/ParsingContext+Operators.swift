// SPDX-License-Identifier: MIT
import JSON

extension ParsingContext {
    /// Parses an operator by its name; `items` has the name first.
    func parseOperator(_ name: String, _ items: [JSONValue]) -> Node? {
        switch name {
        case "literal": return parseLiteral(name, items)
        case "semiliteral": return parseSemiliteral(items)
        case "array", "string", "number", "boolean", "object": return parseAssertion(name, items)
        case "to-string", "to-number", "to-boolean": return parseCoercion(name, items)
        case "all", "any": return parseLogical(name, items)
        case "at": return parseAt(items)
        case "in": return parseIn(items)
        case "index-of": return parseIndexOf(items)
        case "slice": return parseSlice(items)
        case "length": return parseLength(items)
        case "case": return parseCase(items)
        case "match": return parseMatch(items)
        case "coalesce": return parseCoalesce(items)
        case "step": return parseStep(items)
        case "interpolate": return parseInterpolate(items)
        case "let": return parseLet(items)
        case "var": return parseVar(items)
        case "number-format": return parseNumberFormat(items)
        default: break
        }
        if let comparison = Comparison(rawValue: name) { return parseComparison(comparison, items) }
        if let reason = refusal(name) { return fail(reason, 0) }
        if let signatures = CompoundOperators.signatures[name] {
            return parseCompound(name, signatures, items)
        }
        return fail(
            "Unknown expression \"\(name)\". If you wanted a literal array, use [\"literal\", [...]].", 0)
    }

    /// Why an operator of the language may not be used here; nil where it may.
    private func refusal(_ name: String) -> String? {
        switch name {
        case "zoom" where !purpose.mayUseZoom: "\"zoom\" is known in the filters of queries only."
        case "accumulated" where !purpose.mayUseAccumulated:
            "\"accumulated\" is known in a reduce expression only."
        case _ where Self.leftOut.contains(name): "\"\(name)\" needs a rendered map and is not supported."
        default: nil
        }
    }

    private static let leftOut: Set<String> = [
        "rgb", "rgba", "to-rgba", "to-color", "hsl", "hsla", "interpolate-hcl", "interpolate-lab", "format",
        "image",
        "collator", "resolved-locale", "is-supported-script", "feature-state", "global-state",
        "heatmap-density",
        "line-progress", "elevation", "within", "distance", "sky-radial-progress", "to-padding",
    ]

    /// Parses an operator by the signatures that it has: the first whose arguments fit.
    func parseCompound(_ name: String, _ signatures: [Signature], _ items: [JSONValue]) -> Node? {
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

    /// Parses the arguments by a signature; nil, with errors noted, where they don't fit.
    func arguments(_ items: [JSONValue], of signature: Signature) -> [Node]? {
        var arguments: [Node] = []
        for place in 1..<max(items.count, 1) {
            guard let node = parse(items[place], place, expecting: signature.parameter(place - 1)) else {
                return nil
            }
            arguments.append(node)
        }
        for (place, node) in arguments.enumerated() {
            _ = at(place + 1).check(signature.parameter(place), accepts: node.type)
        }
        return errors.list.isEmpty ? arguments : nil
    }

    /// Notes which signatures there are and what was found instead.
    func explain(_ signatures: [Signature], _ items: [JSONValue]) -> Node? {
        var found: [String] = []
        for place in 1..<max(items.count, 1) {
            guard let node = parse(items[place], place) else { return nil }
            found.append(node.type.name)
        }
        let expected = signatures.map(\.text).joined(separator: " | ")
        return fail(
            "Expected arguments of type \(expected), but found (\(found.joined(separator: ", "))) instead.")
    }
}

/// The types that an operator takes and gives, and what it does.
struct Signature: Sendable {
    enum Parameters: Sendable {
        case fixed([ExpressionType])
        /// Any number of one type.
        case any(ExpressionType)
    }

    let result: ExpressionType
    let parameters: Parameters
    /// The name under which it is compiled, where it differs from the written one.
    let name: String?
    let evaluate: Operation.Evaluate

    init(
        _ result: ExpressionType, _ parameters: Parameters, name: String? = nil,
        _ evaluate: @escaping Operation.Evaluate
    ) {
        self.result = result
        self.parameters = parameters
        self.name = name
        self.evaluate = evaluate
    }

    func takes(_ count: Int) -> Bool {
        switch parameters {
        case .fixed(let types): types.count == count
        case .any: true
        }
    }

    func parameter(_ place: Int) -> ExpressionType {
        switch parameters {
        case .fixed(let types): place < types.count ? types[place] : .value
        case .any(let type): type
        }
    }

    var text: String {
        switch parameters {
        case .fixed(let types): "(" + types.map(\.name).joined(separator: ", ") + ")"
        case .any(let type): "(\(type.name)...)"
        }
    }
}
