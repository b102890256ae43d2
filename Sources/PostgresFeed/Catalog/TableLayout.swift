// SPDX-License-Identifier: MIT

/// How a table's rows become features: which column is the id, which the position, and which are properties.
struct TableLayout: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        let type: UInt32
        /// The type modifier, such as a numeric's digits; -1 if there is none.
        let modifier: Int
        let kind: ValueKind
    }

    enum Position: Sendable, Equatable {
        case geometry(Column)
        case coordinates(longitude: Column, latitude: Column)
    }

    let id: Column
    let position: Position
    /// The columns that become properties, in the table's order.
    let properties: [Column]
    /// Whether all columns of the table are read, so that an additional column changes the layout.
    let takesAllColumns: Bool

    /// The generated columns among these; changes do not contain their values.
    let generated: [Generated]
    /// The columns from which the generated columns are computed.
    let inputs: [Input]

    /// A generated column.
    struct Generated: Sendable, Equatable {
        /// The column's index in `columns`.
        let index: Int
        let expression: String
        /// The type as SQL writes it.
        let typeText: String
        let castsToOutput: Bool
        /// The indexes in `inputs` of the columns that the expression names.
        let inputs: [Int]
    }

    struct Input: Sendable, Equatable {
        let name: String
        let type: UInt32
        let modifier: Int
        let typeText: String
    }

    /// All columns that are read, in the order in which a copy selects them.
    var columns: [Column] { Self.columns(id, position, properties) }

    static func columns(_ id: Column, _ position: Position, _ properties: [Column]) -> [Column] {
        switch position {
        case .geometry(let column): [id, column] + properties
        case .coordinates(let longitude, let latitude): [id, longitude, latitude] + properties
        }
    }

    /// A number that changes whenever rows would become different features.
    func fingerprint(rowFilter: String?) -> UInt32 {
        var text = ""
        for column in columns {
            text +=
                "\(column.name.utf8.count):\(column.name):\(column.type):\(column.modifier):\(column.kind);"
        }
        switch position {
        case .geometry: text += "geometry"
        case .coordinates: text += "coordinates"
        }
        for column in generated { text += column.expression }
        text += rowFilter ?? ""
        return Fingerprint.of(text)
    }
}
