// SPDX-License-Identifier: MIT
import ClusterProtocol
import Sources
import GeoJSON
import JSON

/// The params that all imports share: how to import features, and how to read their text.
struct ImportParams {
    let mode: ImportMode
    let policy: InvalidFeaturePolicy
    /// Whether longitudes beyond ±180 are wrapped into range.
    let wraps: Bool
    /// Whether the data may be replaced with nothing when no feature is valid.
    let allowsEmpty: Bool
    let format: FeatureFormat

    init(_ params: Params) throws(RPCError) {
        guard let mode = ImportMode(rawValue: try params.optionalString("mode") ?? ParamDefaults.mode) else {
            throw .invalidParam(params.path(of: "mode"), "must be \"replace\" or \"append\".")
        }
        guard
            let policy = InvalidFeaturePolicy(
                rawValue: try params.optionalString("onInvalid") ?? ParamDefaults.onInvalid)
        else {
            throw .invalidParam(params.path(of: "onInvalid"), "must be \"reject\" or \"skip\".")
        }
        self.mode = mode
        self.policy = policy
        wraps = try params.optionalBool("wrap") ?? false
        allowsEmpty = try params.optionalBool("allowEmpty") ?? false
        var columns = TableColumns()
        columns.longitude = try params.optionalString("longitude")
        columns.latitude = try params.optionalString("latitude")
        columns.id = try params.optionalString("id")
        columns.text = Set(try params.optionalStrings("text") ?? [])
        if let name = try params.optionalString("delimiter") {
            guard let delimiter = TableColumns.delimiter(named: name) else {
                throw .invalidParam(
                    params.path(of: "delimiter"), "must be one character that separates cells, or \"tab\".")
            }
            columns.delimiter = delimiter
        }
        format = FeatureFormat(.automatic, table: columns)
    }
}
