// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import JSON

/// Compiles the expressions in options and params. Errors name the wrong one.
package enum ExpressionOption {
    package static func compile(
        _ value: JSONValue, expected: ExpressionType?, purpose: ExpressionPurpose, path: String
    ) throws(SourceError) -> Expression {
        do {
            return try Expression(compiling: value, expected: expected, purpose: purpose)
        } catch {
            throw invalid(error, path: path)
        }
    }

    /// A source's filter, in which `["zoom"]` is not available.
    package static func filter(_ value: JSONValue, path: String) throws(SourceError) -> CompiledOption {
        CompiledOption(source: value, expression: try filter(value, purpose: .map, path: path))
    }

    /// A filter of a query.
    package static func queryFilter(_ value: JSONValue, path: String) throws(SourceError) -> Expression {
        try filter(value, purpose: .filter, path: path)
    }

    /// Compiles a filter. The error of one in MapLibre's older form shows the expression that was meant.
    private static func filter(
        _ value: JSONValue, purpose: ExpressionPurpose, path: String
    ) throws(SourceError) -> Expression {
        do {
            return try Expression(compiling: value, expected: .boolean, purpose: purpose)
        } catch {
            guard let first = error.errors.first, let meant = OlderFilter.meant(by: value) else {
                throw invalid(error, path: path)
            }
            let explained = ExpressionError(
                key: first.key, message: "\(first.message) As an expression, this older filter is \(meant).")
            throw .invalidExpression(path: path, errors: [explained] + error.errors.dropFirst())
        }
    }

    /// Advice about a filter in MapLibre's older form that is also an expression: one that compares constants.
    static func warnings(about filter: JSONValue, named name: String = "the filter") -> [String] {
        OlderFilter.meant(by: filter).map {
            ["\(name) compares constants, so it gives the same for every feature: did you mean \($0)?"]
        } ?? []
    }

    static func weight(_ value: JSONValue, path: String) throws(SourceError) -> CompiledOption {
        CompiledOption(source: value, expression: try compile(value, expected: .number, purpose: .map, path: path))
    }

    /// A value by which features are compared: a string or a number.
    static func key(_ value: JSONValue, path: String) throws(SourceError) -> CompiledOption {
        let expression = try compile(value, expected: nil, purpose: .map, path: path)
        switch expression.type {
        case .string, .number, .value: return CompiledOption(source: value, expression: expression)
        case let type:
            let error = ExpressionError(key: "", message: "Expected string or number but found \(type.name) instead.")
            throw .invalidExpression(path: path, errors: [error])
        }
    }

    package static func properties(_ value: JSONValue, path: String) throws(SourceError) -> [ClusterPropertyOption] {
        guard case .object(let object) = value else {
            throw .invalidParameter(path: path, message: "must be an object of [operator, map] by name")
        }
        var options: [ClusterPropertyOption] = []
        for (name, definition) in object.members {
            do {
                let property = try ClusterProperty(name: name, compiling: definition)
                options.append(ClusterPropertyOption(name: name, source: definition, property: property))
            } catch {
                throw invalid(error, path: "\(path).\(name)")
            }
        }
        return options
    }

    /// Values of points by name.
    static func indexedProperties(_ value: JSONValue, path: String) throws(SourceError) -> [IndexedPropertyOption] {
        let most = IndexedPropertyOption.most
        guard case .object(let object) = value, object.members.count <= most else {
            throw .invalidParameter(
                path: path, message: "must be an object of at most \(most) expressions by name")
        }
        var options: [IndexedPropertyOption] = []
        for (name, definition) in object.members {
            guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.]*/) != nil else {
                throw .invalidParameter(
                    path: "\(path).\(name)",
                    message: "must have a name of letters, digits, _ and ., that begins with a letter or _")
            }
            let expression = try compile(definition, expected: nil, purpose: .map, path: "\(path).\(name)")
            options.append(
                IndexedPropertyOption(name: name, value: CompiledOption(source: definition, expression: expression)))
        }
        return options
    }

    private static func invalid(_ failure: ExpressionCompileFailure, path: String) -> SourceError {
        .invalidExpression(path: path, errors: failure.errors)
    }
}

extension SourceOptions {
    /// The properties that clustering and aggregating read.
    package var propertyNames: Set<String> {
        clusterProperties.reduce(into: [weight, partitionBy, sortKey].propertyNames) {
            $0.formUnion($1.property.map.propertyNames)
        }
    }

    /// The properties that clustering reads.
    package var pointNames: Set<String> { [weight, partitionBy, sortKey].propertyNames }

    /// The properties read when deciding which features to load.
    package var screeningNames: Set<String> { [filter, weight].propertyNames }

    /// The properties of which only the indexed values are kept.
    package var indexedNames: Set<String> { indexedProperties.map(\.value).propertyNames }

    /// All properties that loading reads.
    package var readNames: Set<String> { propertyNames.union(screeningNames).union(indexedNames) }
}

extension ViewOption {
    /// The properties that choosing, clustering and aggregating a view's features read.
    package var propertyNames: Set<String> {
        options.propertyNames.union(options.indexedNames).union(selection.propertyNames)
    }
}

extension ViewSelection {
    var propertyNames: Set<String> { [filter, weight].propertyNames }
}

extension [CompiledOption?] {
    fileprivate var propertyNames: Set<String> {
        reduce(into: []) { names, option in
            if let option { names.formUnion(option.expression.propertyNames) }
        }
    }
}
