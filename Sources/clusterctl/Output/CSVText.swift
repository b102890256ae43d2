// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import SystemSupport

/// Features and cells in the format of RFC 4180, with a line feed after each row, so that 'import' can read them back.
struct CSVText {
    /// The properties that are columns.
    let names: [String]

    /// The properties of some features, in the order of first occurrence.
    static func names(of features: some Sequence<JSONValue>, into names: inout [String], _ known: inout Set<String>) {
        for feature in features {
            for (name, _) in feature["properties"]?.asObject?.members ?? [] where known.insert(name).inserted {
                names.append(name)
            }
        }
    }

    var header: String { Self.row(["id", "longitude", "latitude"] + names) }

    /// The row of a feature. The position of a geometry other than a point is left empty.
    func row(_ feature: JSONValue) -> String {
        let properties = feature["properties"]?.asObject
        let position = feature["geometry"]?["coordinates"]?.asArray?.prefix(2).map(Self.cell) ?? ["", ""]
        let isPoint = position.count == 2 && feature["geometry"]?["type"]?.asString == "Point"
        let cells = names.map { name in properties?[name].map(Self.cell) ?? "" }
        return Self.row([feature["id"].map(Self.cell) ?? ""] + (isPoint ? position : ["", ""]) + cells)
    }

    /// A value as a cell: strings as they are, null as an empty cell, arrays and objects as JSON.
    static func cell(_ value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .string(let text): text
        default: value.text
        }
    }

    static func row(_ cells: [String]) -> String { cells.map(quoted).joined(separator: ",") + "\n" }

    private static func quoted(_ cell: String) -> String {
        let needs = cell.utf8.contains {
            $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D || $0 == 0x3B || $0 == 0x09
        }
        return needs ? "\"" + cell.doubling("\"") + "\"" : cell
    }
}

/// An answer without features as CSV: a row for each object of a list, such as the sources, or else one row
/// of its members.
///
/// Numbers are as the daemon sends them. Columns of objects and lists come last, as JSON.
struct CSVRecords {
    private let records: [JSONObject]

    init(answer: JSONValue) {
        let object = answer.asObject ?? ["value": answer]
        if object.members.count == 1, let list = object.members.first?.value.asArray {
            records = list.map { $0.asObject ?? ["value": $0] }
        } else {
            records = [object]
        }
    }

    var text: String {
        let names = names
        return CSVText.row(names)
            + records.map { record in CSVText.row(names.map { record[$0].map(CSVText.cell) ?? "" }) }.joined()
    }

    /// The members of all records in the order of first occurrence. Those with JSON values come last.
    private var names: [String] {
        var (scalars, nested): ([String], [String]) = ([], [])
        var known: Set<String> = []
        for record in records {
            for (name, value) in record.members where known.insert(name).inserted {
                if value.asArray == nil, value.asObject == nil {
                    scalars.append(name)
                } else {
                    nested.append(name)
                }
            }
        }
        return scalars + nested
    }
}
