// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

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
        var (plain, nested): ([String], [String]) = ([], [])
        var known: Set<String> = []
        for record in records {
            for (name, value) in record.members where known.insert(name).inserted {
                if value.asArray == nil, value.asObject == nil {
                    plain.append(name)
                } else {
                    nested.append(name)
                }
            }
        }
        return plain + nested
    }
}
