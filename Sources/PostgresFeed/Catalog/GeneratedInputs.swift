// SPDX-License-Identifier: MIT

/// Finds the columns from which generated columns are computed.
struct GeneratedInputs {
    private let catalog: Catalog

    init(_ catalog: Catalog) { self.catalog = catalog }

    /// The columns that an expression names. They may include a name that is only part of another word, which
    /// does no harm to the computation.
    func names(_ column: Catalog.Column) -> [String] {
        catalog.columns.filter { !$0.isGenerated && column.expression.contains($0.name) }.map(\.name)
    }

    /// The generated columns of a layout, with their indexes in it, and all columns from which they are
    /// computed.
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
