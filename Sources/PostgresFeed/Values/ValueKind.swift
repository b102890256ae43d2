// SPDX-License-Identifier: MIT

/// How an SQL value becomes JSON: as with `to_jsonb`, from the output of the type's output function.
///
/// Source: json_categorize_type and datum_to_jsonb in PostgreSQL's src/backend/utils/adt.
indirect enum ValueKind: Sendable, Equatable {
    case boolean
    /// Integers, floating point and numeric.
    case number
    /// json and jsonb: already JSON.
    case json
    case timestamp
    /// A timestamp followed by `+00`: sessions are in UTC.
    case zonedTimestamp
    case array(of: ValueKind, delimiter: UInt8)
    /// int2vector and oidvector: numbers separated by blanks.
    case vector(of: ValueKind)
    case composite([Field])
    /// The extension hstore.
    case keyValues
    /// A PostGIS geometry that is a property: GeoJSON, as its cast to json returns it.
    case geometry
    /// Everything else is a string.
    case text

    /// Whether the JSON of such a value is composed of scalars here, so that it is valid without a check.
    var isPlain: Bool {
        switch self {
        case .boolean, .number, .timestamp, .zonedTimestamp, .keyValues, .text: true
        case .json, .array, .vector, .composite, .geometry: false
        }
    }

    struct Field: Sendable, Equatable {
        /// The name as a JSON string.
        let name: [UInt8]
        let kind: ValueKind
        /// The field's index in the composite type; fields are in jsonb's order of keys.
        let index: Int
    }
}
