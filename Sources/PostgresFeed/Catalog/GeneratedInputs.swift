// SPDX-License-Identifier: MIT

/// Finds what generated columns are computed from.
struct GeneratedInputs {
    private let catalog: Catalog

    init(_ catalog: Catalog) { self.catalog = catalog }

    /// The columns that an expression names. A name that is part of another word may be among them: computing does not
    /// depend on it.
    func names(_ column: Catalog.Column) -> [String] {
        catalog.columns.filter { !$0.isGenerated && column.expression.contains($0.name) }.map(\.name)
    }

    /// The generated columns of a layout, by their indexes in it, and all columns that these are computed from.
    func find(_ columns: [String]) -> ([TableLayout.Generated], [TableLayout.Input]) {
        let generated = columns.enumerated().compactMap { index, name in
            catalog.columns.first { $0.name == name && $0.isGenerated }.map { (index, $0) }
        }
        let used = Set(generated.flatMap { names($0.1) })
        let inputs = catalog.columns.filter { used.contains($0.name) }
        return (
            generated.map { index, column in
                let names = names(column)
                return TableLayout.Generated(
                    index: index, expression: column.expression, typeText: column.typeText,
                    castsToOutput: catalog.types.castsToOutput(column.type),
                    inputs: inputs.indices.filter { names.contains(inputs[$0].name) })
            },
            inputs.map {
                TableLayout.Input(name: $0.name, type: $0.type, modifier: $0.modifier, typeText: $0.typeText)
            }
        )
    }
}
