// SPDX-License-Identifier: MIT
import JSON

/// Which columns of a table mean what.
public struct TableColumns: Sendable, Equatable {
    /// The column of the longitude. If nil, the first of `longitude`, `lon`, `lng`, `long`, `x` in any letter case.
    public var longitude: String?
    /// The column of the latitude. If nil, the first of `latitude`, `lat`, `y` in any letter case.
    public var latitude: String?
    /// The column of the id. If nil, `id` if there is such a column.
    public var id: String?
    /// The separator of cells. If nil, the comma, semicolon or tab found in the header.
    public var delimiter: UInt8?
    /// Columns whose cells stay text.
    public var text: Set<String>

    public init(
        longitude: String? = nil, latitude: String? = nil, id: String? = nil, delimiter: UInt8? = nil,
        text: Set<String> = []
    ) {
        (self.longitude, self.latitude, self.id) = (longitude, latitude, id)
        (self.delimiter, self.text) = (delimiter, text)
    }

    /// The usual separators of cells, each with its name in the configuration. Those that are not detected in a header
    /// have to be named.
    public static let delimiters: [(name: String, byte: UInt8, isDetected: Bool)] = [
        (",", UInt8(ascii: ","), true), (";", UInt8(ascii: ";"), true), ("tab", UInt8(ascii: "\t"), true),
        ("|", UInt8(ascii: "|"), false),
    ]

    /// The separator with a name: one character, or `tab`. Nil if it cannot separate cells.
    public static func delimiter(named name: String) -> UInt8? {
        if let usual = delimiters.first(where: { $0.name == name }) { return usual.byte }
        if name == "\\t" { return UInt8(ascii: "\t") }
        guard name.utf8.count == 1, let byte = name.utf8.first else { return nil }
        let letters = UInt8(ascii: "0")...UInt8(ascii: "z")
        return byte == UInt8(ascii: "\"") || byte < 9 || byte == 10 || byte == 13
            || letters.contains(byte) && byte != UInt8(ascii: ";") && byte != UInt8(ascii: "^") ? nil : byte
    }
}

/// A table's columns and their roles.
public final class TableHeader: Sendable {
    /// The columns' names, without the space around them.
    public let names: [String]
    let delimiter: UInt8
    /// The column of longitudes. The same as `latitude` if one column has both, as "48.1, 11.5".
    let longitude: Int
    let latitude: Int
    /// Whether cells such as `1,5` are numbers, as spreadsheets of many languages write them.
    let hasDecimalCommas: Bool
    let id: Int?
    /// By column: whether its cells stay text.
    let staysText: [Bool]
    /// By column, its name as a JSON key with the colon; nil for a column that is not a property.
    let keys: [[UInt8]?]

    /// Reads the header's row.
    ///
    /// - Parameter rows: the text that follows, from which the first rows show how positions are written.
    /// - Throws: `malformed`, with a list of the columns, if a required one is missing, or if lines have no line feed.
    convenience init?(_ text: [UInt8], _ columns: TableColumns, rows: [UInt8] = []) throws(GeoJSONError) {
        guard String(validating: text, as: UTF8.self) != nil else {
            throw .malformed(message: "The table's header is not UTF-8: \(ForeignFormat.conversion).", offset: nil)
        }
        let readings = Self.readings(of: text, columns.delimiter)
        guard let most = readings.max(by: { $0.names.count < $1.names.count }) else { return nil }
        let sampled = readings.map { ($0, FirstCells(rows, $0.delimiter, columns: $0.names.count)) }
        let fitting = sampled.first { reading, cells in
            let position = Self.position(columns, reading.names, cells)
            return position.longitude != nil && position.latitude != nil
        }?.0
        let reading = fitting ?? most
        // Without this the whole file would be the header of a table without rows. Within quotation marks
        // CRLF is one character.
        guard !reading.names.contains(where: { $0.contains("\r") }) else {
            throw .malformed(
                message: "The table's lines end with a carriage return alone: convert them to line feeds, "
                    + "for example with tr '\\r' '\\n'.", offset: nil)
        }
        try self.init(reading, columns, FirstCells(rows, reading.delimiter, columns: reading.names.count))
    }

    /// Whether a first line looks like a header rather than like anything else.
    static func isLikely(_ text: [UInt8]) -> Bool {
        // A header in an older encoding counts too. Reading it gives the advice.
        guard !text.contains(where: { $0 < 32 && ![9, 10, 13].contains($0) }) else { return false }
        return readings(of: text, nil).contains { reading in
            reading.names.count > 1 && reading.names.allSatisfy { !$0.isEmpty && $0.utf8.count <= 64 }
        }
    }

    private struct Reading {
        let delimiter: UInt8
        let names: [String]
    }

    private static func readings(of text: [UInt8], _ delimiter: UInt8?) -> [Reading] {
        let candidates = delimiter.map { [$0] } ?? TableColumns.delimiters.filter(\.isDetected).map(\.byte)
        return candidates.map { delimiter in
            let cells = RowScanner.rows(of: text, delimiter, most: 1).first ?? []
            return Reading(delimiter: delimiter, names: cells.map(trimmed))
        }
    }

    private static func trimmed(_ name: String) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let start = name.drop(while: isSpace)
        return String(start.reversed().drop(while: isSpace).reversed())
    }

    private static func position(
        _ columns: TableColumns, _ names: [String], _ cells: FirstCells
    ) -> (longitude: Int?, latitude: Int?) {
        let longitude = PositionNames.find(columns.longitude, PositionNames.longitudes, names)
        let latitude = PositionNames.find(columns.latitude, PositionNames.latitudes, names)
        if longitude == nil, latitude == nil, columns.longitude == nil, columns.latitude == nil,
            let both = PositionNames.find(nil, PositionNames.pairs, names), cells.isPair(both)
        {
            return (both, both)
        }
        return (longitude, latitude)
    }

    /// What to do about a table without a column of longitudes or latitudes.
    ///
    /// - Parameter params: those that name the missing columns.
    private static func advice(_ params: [String], _ names: [String]) -> String {
        let shapes = names.first { name in
            ["wkt", "geom"].contains { name.lowercased().contains($0) }
        }
        let advice = ": name \(params.count == 1 ? "it" : "them") with \(params.joined(separator: " and "))"
        guard let shapes else { return advice }
        return advice + ", or if \"\(shapes)\" has geometries as well-known text (WKT), convert the table, "
            + "for example with ogr2ogr -f GeoJSON points.geojson table.csv -oo GEOM_POSSIBLE_NAMES=\(shapes)"
    }

    private init(_ reading: Reading, _ columns: TableColumns, _ cells: FirstCells) throws(GeoJSONError) {
        let names = reading.names
        func missing(_ roles: [(what: String, given: String?)]) -> GeoJSONError {
            let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            let wanted = roles.map { role in
                role.given.map { "no column \"\($0)\"" } ?? "no \(role.what) column"
            }
            let unnamed = roles.filter { $0.given == nil }.map { "params.\($0.what)" }
            let advice = unnamed.isEmpty ? "" : Self.advice(unnamed, names)
            return .malformed(
                message: "The table has \(wanted.joined(separator: " and ")) among its columns \(list)\(advice).",
                offset: nil)
        }
        let position = Self.position(columns, names, cells)
        guard let longitude = position.longitude, let latitude = position.latitude else {
            let roles = [
                (what: "longitude", given: columns.longitude, column: position.longitude),
                (what: "latitude", given: columns.latitude, column: position.latitude),
            ]
            throw missing(roles.filter { $0.column == nil }.map { ($0.what, $0.given) })
        }
        let id = PositionNames.find(columns.id, ["id"], names)
        if let given = columns.id, id == nil { throw missing([("id", given)]) }
        // By bytes: a table may have very many columns.
        var last: [[UInt8]: Int] = [:]
        for (column, name) in names.enumerated() { last[Array(name.utf8)] = column }
        let text = Set(columns.text.map { Array($0.utf8) })
        for name in columns.text.sorted() where last[Array(name.utf8)] == nil {
            throw missing([("text", name)])
        }
        self.names = names
        delimiter = reading.delimiter
        hasDecimalCommas =
            longitude != latitude && reading.delimiter != UInt8(ascii: ",")
            && cells.haveDecimalComma([longitude, latitude])
        (self.longitude, self.latitude, self.id) = (longitude, latitude, id)
        staysText = names.map { text.contains(Array($0.utf8)) }
        keys = names.indices.map { column in
            // Of columns with the same name the last one is used, as with JSON members.
            let isLast = last[Array(names[column].utf8)] == column
            guard isLast, column != longitude, column != latitude, column != id else { return nil }
            return Array(JSONValue.string(names[column]).text.utf8) + [UInt8(ascii: ":")]
        }
    }

    /// The last column with a name.
    public func column(named name: String) -> Int? { names.lastIndex { $0.hasSameBytes(as: name) } }
}

extension TableCell {
    /// The cell's text with its quotation marks single.
    var string: String {
        let string = String(decoding: text, as: UTF8.self)
        guard hasDoubledQuotes else { return string }
        var single = ""
        var isSecond = false
        for scalar in string.unicodeScalars {
            isSecond = scalar == "\"" && !isSecond
            if !(scalar == "\"" && !isSecond) { single.unicodeScalars.append(scalar) }
        }
        return single
    }
}
