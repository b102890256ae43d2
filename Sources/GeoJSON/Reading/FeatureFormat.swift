// SPDX-License-Identifier: MIT

/// What the sender of a text of features says about its format.
public struct FeatureFormat: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// Detected from its beginning.
        case automatic
        /// A FeatureCollection, an array of features, or features in any JSON layout.
        case json
        /// A feature on each line.
        case lines
        /// A JSON text sequence (RFC 8142).
        case sequence
        /// Rows with a header (RFC 4180).
        case table
    }

    public var kind: Kind
    public var table: TableColumns

    public init(_ kind: Kind = .automatic, table: TableColumns = TableColumns()) {
        self.kind = kind
        self.table = table
    }

    /// The format of a media type; nil if it is not one of features. Parameters are ignored.
    public init?(mediaType: String) {
        let name = mediaType.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        switch name {
        case "application/geo+json", "application/json", "application/vnd.geo+json": self.init(.json)
        case "application/geo+json-seq", "application/json-seq": self.init(.sequence)
        case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines":
            self.init(.lines)
        case "text/csv", "text/tab-separated-values": self.init(.table)
        case "application/octet-stream", "application/gzip", "application/x-gzip": self.init()
        default: return nil
        }
    }
}

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

    /// The separator with a name: one character, or `tab`. Nil if it cannot separate cells.
    public static func delimiter(named name: String) -> UInt8? {
        if name == "tab" || name == "\\t" { return UInt8(ascii: "\t") }
        guard name.utf8.count == 1, let byte = name.utf8.first else { return nil }
        let letters = UInt8(ascii: "0")...UInt8(ascii: "z")
        return byte == UInt8(ascii: "\"") || byte < 9 || byte == 10 || byte == 13
            || letters.contains(byte) && byte != UInt8(ascii: ";") && byte != UInt8(ascii: "^") ? nil : byte
    }
}
