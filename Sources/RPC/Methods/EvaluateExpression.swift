// SPDX-License-Identifier: MIT
import ClusterProtocol
import Expressions
import JSON

/// `EvaluateExpression`: compiles an expression and evaluates it.
struct EvaluateExpression: UnaryMethod {
    let declaration = MethodDeclaration.evaluateExpression

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let text = try params.value(.expression)
        return PreparedAnswer(isQuick: false) { (call, bytes) throws(RPCError) in
            let value = try Self.evaluate(text, params, call)
            bytes.append("{\"value\":")
            bytes.append(value)
            bytes.append("}")
        }
    }

    private static func evaluate(
        _ text: JSONValue, _ params: Params, _ call: CallContext
    ) throws(RPCError) -> JSONValue {
        // The specification's test cases have null for an absent feature.
        let given = params[.feature] == .null ? nil : try params.optionalObject(.feature)
        let feature = given ?? Params(JSONObject())
        let zoom = params[.expressionZoom] == .null ? nil : try params.optionalNumber(.expressionZoom)
        let expression = try compile(text, try type(params), call)
        var properties = JSONObject()
        switch feature.object["properties"] {
        case nil, .null: break
        case .object(let object): properties = object
        default: throw .invalidParam(feature.path(of: "properties"), "must be an object or null.")
        }
        var geometryType: String?
        if case .object(let geometry)? = feature.object["geometry"], case .string(let type)? = geometry["type"] {
            geometryType = type
        }
        do throws(EvaluationError) {
            return try expression.evaluate(
                properties: properties, identifier: feature.object["id"] ?? .null, geometryType: geometryType,
                zoom: zoom, accumulated: params[.accumulated] ?? .null, budget: EvaluationBudget { call.isOver })
        } catch {
            try call.check()
            throw RPCError(.failedPrecondition, error.message)
        }
    }

    /// The expected type of the result: strings are coerced, other types asserted.
    private static func type(_ params: Params) throws(RPCError) -> ExpressionType? {
        guard params[.expectedType] != .null, let name = try params.optionalString(.expectedType) else {
            return nil
        }
        guard let type = ExpressionType(name: name) else {
            throw params.invalid(
                .expectedType,
                "must be a type such as number, string, boolean, object, value, array or array<number, 2>.")
        }
        return type
    }

    private static func compile(
        _ value: JSONValue, _ type: ExpressionType?, _ call: CallContext
    ) throws(RPCError) -> Expression {
        do {
            return try Expression(
                compiling: value, expected: type, purpose: .evaluation, coercesStrings: true,
                isCancelled: { call.isOver })
        } catch {
            try call.check()
            let errors = error.errors.map { fault in
                JSONValue.object(["key": .string(fault.key), "message": .string(fault.message)])
            }
            throw RPCError(
                .invalidArgument, error.errors.first?.message ?? "Not an expression.",
                details: ["errors": .array(errors)])
        }
    }
}
