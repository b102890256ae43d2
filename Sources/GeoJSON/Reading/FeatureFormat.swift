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

/// Detects formats that are often mistaken for GeoJSON, and says what to do with them.
enum ForeignFormat {
    /// What to do with a text in an older encoding.
    static let conversion = "convert the file to UTF-8, for example with iconv -f LATIN1 -t UTF-8"

    /// What to do with a binary file; nil if its format is unknown.
    static func binaryProblem(of text: [UInt8]) -> String? {
        for (magic, offset, name) in magics
        where text.count >= offset + magic.count && text[offset..<offset + magic.count].elementsEqual(magic) {
            return "This is \(name): 'clusterctl import' reads it through GDAL's ogr2ogr."
        }
        return nil
    }

    /// What to do with a text in another format, detected from its beginning; nil if the format is unknown.
    static func textProblem(of text: [UInt8], from start: Int) -> String? {
        if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
            return "The text is UTF-16: convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8."
        }
        if text[start...].starts(with: "<!DOCTYPE html".utf8) || text[start...].starts(with: "<html".utf8) {
            return "This is a web page, not GeoJSON: the download may have failed."
        }
        if text[start...].starts(with: "<?xml".utf8) || text[start...].starts(with: "<kml".utf8)
            || text[start...].starts(with: "<gpx".utf8)
        {
            return "This is XML, such as KML, GPX or GML: 'clusterctl import' reads it through GDAL's ogr2ogr."
        }
        return nil
    }

    private static let magics: [(magic: [UInt8], offset: Int, name: String)] = [
        (Array("SQLite format 3".utf8), 0, "a GeoPackage or another SQLite file"),
        ([0x50, 0x4B, 0x03, 0x04], 0, "a zip archive, such as a Shapefile or KMZ"),
        ([0x66, 0x67, 0x62, 0x03], 0, "a FlatGeobuf file"),
        ([0x00, 0x00, 0x27, 0x0A], 0, "a Shapefile"),
        (Array("PAR1".utf8), 0, "a Parquet file"),
        (Array("ARROW1".utf8), 0, "an Arrow file"),
    ]
}
