// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON

/// The form in which a command prints its answer.
enum OutputForm: String, CaseIterable {
    /// Aligned columns, for people.
    case table
    /// The daemon's answer.
    case json
    /// The answer's features, for programs that read GeoJSON.
    case geojson
    /// The answer's features, or the table's rows, separated by commas.
    case csv

    static let option = Option(
        "output", value: "FORM", kind: .oneOf(allCases.map(\.rawValue)), defaultInWords: table.rawValue,
        help: "print the answer as a table, as the daemon's JSON, as GeoJSON, or as CSV")

    /// What the command line asks for.
    init(_ arguments: ParsedArguments) {
        let named = arguments.string("output").flatMap(OutputForm.init)
        self = named ?? (arguments.has("json") ? .json : .table)
    }

    /// The GeoJSON in an answer; nil if there is none.
    static func geojson(in answer: JSONValue) -> JSONValue? {
        for value in [answer, answer["feature"] ?? .null] {
            if let type = value["type"]?.asString, type == "FeatureCollection" || type == "Feature" {
                return value
            }
        }
        return nil
    }

    /// The features of a GeoJSON value.
    static func features(of value: JSONValue) -> [JSONValue] { value["features"]?.asArray ?? [value] }
}
