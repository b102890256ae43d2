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
