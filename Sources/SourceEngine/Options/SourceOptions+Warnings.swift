// SPDX-License-Identifier: MIT
import Aggregates
import Expressions
import JSON

extension SourceOptions {
    /// Warnings about probable mistakes that do not depend on the data.
    var warnings: [String] {
        var warnings = hiddenProperties.map { name in
            "clusters have their own property \"\(name)\", which hides that of clusterProperties: give it another name"
        }
        let advice =
            filter.map { ExpressionOption.warnings(about: $0.source, named: "the option filter") } ?? []
        warnings += advice
        if advice.isEmpty, let value = filter?.expression.constant, value != .bool(true) {
            warnings.append(
                "the option filter gives \(value.text) for every feature, so none is loaded: compare a property, such as "
                    + "[\">\", [\"get\", \"population\"], 1000]")
        }
        return warnings
    }

    private var hiddenProperties: [String] {
        clusterProperties.map(\.name).filter(ClusterProperty.ownNames.contains).sorted()
    }
}
