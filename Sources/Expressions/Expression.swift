// SPDX-License-Identifier: MIT
import JSON

/// A compiled expression of the MapLibre style specification's language.
///
/// Immutable; safe to use from several threads at once.
public struct Expression: Sendable {
    let root: ExpressionNode
    /// The names of the properties that it reads; see also `readsAnyProperty`.
    public let propertyNames: Set<String>
    /// Whether it may read properties whose names are not known when it is compiled.
    public let readsAnyProperty: Bool
    public let usesZoom: Bool
    public let usesIdentifier: Bool

    /// Its value, if it is the same for every feature at every zoom; otherwise nil.
    public var constant: JSONValue? { root.literal }

    /// The type of its values.
    public var type: ExpressionType { root.type }

    /// Compiles an expression.
    ///
    /// - Parameters:
    ///   - expected: the type that the whole expression must have. A value of unknown type is asserted to
    ///     have that type, or converted to it if it is a string and `coercesStrings` is true.
    ///   - purpose: what the expression is used for, which determines the operators it may use.
    ///   - isCancelled: checked between parts, because evaluating constant parts may take long. Cancellation
    ///     is an error.
    /// - Throws: all errors found.
    public init(
        compiling value: JSONValue, expected: ExpressionType? = nil, purpose: ExpressionPurpose,
        coercesStrings: Bool = false, isCancelled: (@Sendable () -> Bool)? = nil
    ) throws(ExpressionCompileFailure) {
        try ExpressionSize.check(value)
        let context = ParsingContext(
            operators: OperatorTable.all, purpose: purpose, expected: expected, isCancelled: isCancelled)
        let annotation: ParsingContext.Annotation = coercesStrings && expected == .string ? .coerce : .assert
        guard let root = context.parseHere(value, annotation: annotation), context.errors.list.isEmpty else {
            let errors = context.errors.list
            throw ExpressionCompileFailure(
                errors: errors.isEmpty ? [ExpressionError(key: "", message: "Not an expression.")] : errors)
        }
        self.root = root
        var survey = ExpressionSurvey()
        survey.visit(root)
        propertyNames = survey.names
        readsAnyProperty = survey.readsAnyProperty
        usesZoom = survey.usesZoom
        usesIdentifier = survey.usesIdentifier
    }

    /// Evaluates for one feature.
    ///
    /// - Parameter budget: the steps that it may take; `ExpressionLimits.rowSteps` also limits them.
    /// - Throws: why there is no value. If `budget` stopped it, `budget.check()` throws the reason.
    public func evaluate(
        properties: JSONObject = JSONObject(), identifier: JSONValue = .null, geometryType: String? = nil,
        zoom: Double? = nil, accumulated: JSONValue = .null, budget: EvaluationBudget = EvaluationBudget()
    ) throws(EvaluationError) -> JSONValue {
        let context = EvaluationContext(budget: budget)
        context.properties = properties
        context.identifier = identifier
        context.geometryType = geometryType.map { .string($0) } ?? .null
        context.zoom = zoom
        context.accumulated = accumulated
        return try context.evaluate(root)
    }
}

/// Finds what an expression reads.
private struct ExpressionSurvey {
    var names: Set<String> = []
    var readsAnyProperty = false
    var usesZoom = false
    var usesIdentifier = false
    private var seen: Set<ObjectIdentifier> = []

    mutating func visit(_ node: ExpressionNode) {
        guard seen.insert(ObjectIdentifier(node)).inserted else { return }
        if case .compound(let name, _) = node.operation {
            switch name {
            case "get", "has":
                if case .string(let property)? = node.arguments[0].literal {
                    names.insert(property)
                } else {
                    readsAnyProperty = true
                }
            case "properties": readsAnyProperty = true
            case "zoom": usesZoom = true
            case "id": usesIdentifier = true
            default: break
            }
        }
        for argument in node.arguments { visit(argument) }
    }
}

/// The size of an expression as written, before constant parts are evaluated and without implied assertions,
/// so that its author can count it.
enum ExpressionSize {
    /// Rejects an expression that is too large, before any other work.
    static func check(_ value: JSONValue) throws(ExpressionCompileFailure) {
        var counts = Counts()
        guard counts.takes(value) else {
            let message = "An expression may have \(ExpressionLimits.nodes) parts at most."
            throw ExpressionCompileFailure(errors: [ExpressionError(key: "", message: message)])
        }
    }

    private struct Counts {
        /// Operators and operands; a list of literals or of labels counts as one.
        private var parts = 0
        /// JSON values, including those within lists of literals.
        private var values = 0

        mutating func takes(_ value: JSONValue) -> Bool {
            parts += 1
            guard parts <= ExpressionLimits.nodes else { return false }
            guard case .array(let items) = value, case .string(let name)? = items.first else {
                return takesWhole(value)
            }
            if name == "literal" { return takesWhole(value) }
            for index in items.indices.dropFirst() {
                let isLabel = name == "match" && index % 2 == 0 && index < items.count - 1
                if isLabel { parts += 1 }
                guard isLabel ? takesWhole(items[index]) : takes(items[index]) else { return false }
            }
            return parts <= ExpressionLimits.nodes
        }

        private mutating func takesWhole(_ value: JSONValue) -> Bool {
            values += 1
            guard values <= ExpressionLimits.literalValues else { return false }
            switch value {
            case .array(let items): return items.allSatisfy { takesWhole($0) }
            case .object(let object): return object.members.allSatisfy { takesWhole($0.value) }
            default: return true
            }
        }
    }
}
