// SPDX-License-Identifier: MIT
import JSON

/// All operators by name. Each family has a file in this folder; an operator that belongs to none is a family
/// by itself.
enum OperatorTable {
    private static let families: [[String: OperatorDefinition]] = [
        ChoiceOperators.definitions,
        ComparisonOperators.definitions,
        CurveOperators.definitions,
        ErrorOperator.definitions,
        FeatureOperators.definitions,
        HashOperator.definitions,
        LiteralOperators.definitions,
        LogicOperators.definitions,
        MathOperators.definitions,
        NumberFormatOperator.definitions,
        SequenceOperators.definitions,
        TextOperators.definitions,
        TimestampOperator.definitions,
        TypeOperators.definitions,
        VariableOperators.definitions,
    ]

    static let all = OperatorSet(
        definitions: families.reduce(into: [:]) { all, family in all.merge(family) { first, _ in first } },
        excluded: excluded)

    private static let excluded: Set<String> = [
        "rgb", "rgba", "to-rgba", "to-color", "hsl", "hsla", "interpolate-hcl", "interpolate-lab", "format",
        "image", "collator", "resolved-locale", "is-supported-script", "feature-state", "global-state",
        "heatmap-density", "line-progress", "elevation", "within", "distance", "sky-radial-progress",
        "to-padding",
    ]
}
