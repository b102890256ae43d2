// SPDX-License-Identifier: MIT
import EventLoop

/// Computes the values of generated columns, which logical replication leaves out (before PostgreSQL 18), over a
/// separate connection: the server evaluates the columns' expressions over the values that it sent. Expressions of
/// generated columns are immutable, so the values are those of the transaction, whenever they are computed.
final class GeneratedColumns {
    private let layout: TableLayout
    private let connection: QueryConnection

    init(on loop: EventLoop, _ configuration: TableFeedConfiguration, _ layout: TableLayout) {
        self.layout = layout
        connection = QueryConnection(on: loop, configuration.connection)
    }

    func close() { connection.close() }

    /// Evaluates all expressions over each row of inputs, whose values are in the order of
    /// `TableLayout.inputs`. The results are in the order of `TableLayout.generated`. Nil is NULL.
    func evaluate(_ rows: [[String?]], _ then: @escaping (Result<[[String?]], PostgresError>) -> Void) {
        connection.query(statement(rows)) { then($0.map { $0.map { Array($0.dropFirst()) } }) }
    }

    /// The name of the row's number, which no column has.
    private static let number = "\"clusterd: row\""

    private func statement(_ rows: [[String?]]) -> String {
        let values = rows.enumerated().map { index, row in
            let literals = row.map { $0.map(SQLName.literal) ?? "NULL" }
            return "(" + (["\(index)"] + literals.map { $0 + "::text" }).joined(separator: ",") + ")"
        }
        let inputNames = layout.inputs.indices.map { "c\($0)" }
        let inputs = layout.inputs.enumerated().map {
            "c\($0.offset)::\($0.element.typeText) AS \(SQLName.quote($0.element.name))"
        }
        let expressions = layout.generated.enumerated().map {
            "(\($0.element.expression))::\($0.element.typeText) AS g\($0.offset)"
        }
        let texts = layout.generated.enumerated().map { index, value in
            CopyStatement.text("g\(index)", castsToOutput: value.castsToOutput)
        }
        let number = Self.number
        return """
            SELECT \(([number] + texts).joined(separator: ", ")) FROM (
                SELECT \(([number] + expressions).joined(separator: ", ")) FROM (
                    SELECT \(([number] + inputs).joined(separator: ", "))
                    FROM (VALUES \(values.joined(separator: ","))) AS v(\(([number] + inputNames).joined(separator: ", ")))
                ) AS i OFFSET 0
            ) AS g ORDER BY \(number)
            """
    }
}
