// SPDX-License-Identifier: MIT
import JSON

/// Consecutive features to be added to a builder. Several pieces may be filled at the same time, each by
/// one thread. The builder admits them in order, one at a time.
public final class FeaturePiece {
    private let parser: PieceParser
    private let rules: FeatureRules
    /// Whether a point's parts can be copied without parsing.
    private let takesParts: Bool

    init(_ parser: PieceParser, _ rules: FeatureRules) {
        (self.parser, self.rules) = (parser, rules)
        takesParts = rules.promoteId == nil && parser.result.piece == nil && !parser.result.keepsRanges
    }

    var result: ParsedFeatures { parser.result }

    /// The parts of a point's feature, as slices of its text.
    public struct PointParts {
        /// A number or a string.
        public let identifier: UnsafeRawBufferPointer
        /// An array of two or three numbers.
        public let coordinates: UnsafeRawBufferPointer
        /// An object.
        public let properties: UnsafeRawBufferPointer
        /// The numbers of `coordinates`.
        public let longitude: Double
        public let latitude: Double

        public init(
            identifier: UnsafeRawBufferPointer, coordinates: UnsafeRawBufferPointer,
            properties: UnsafeRawBufferPointer, longitude: Double, latitude: Double
        ) {
            (self.identifier, self.coordinates, self.properties) = (identifier, coordinates, properties)
            (self.longitude, self.latitude) = (longitude, latitude)
        }
    }

    /// Appends the feature of a text. Faults count as in any imported text.
    ///
    /// - Parameters:
    ///   - text: one GeoJSON feature.
    ///   - parts: the text's parts, if the caller has composed it from them and knows it to be valid; nil to
    ///     parse it.
    public func append(_ text: UnsafeRawBufferPointer, parts: PointParts?) {
        guard takesParts, let parts else { return parser.parse(single: LentBytes(text)) }
        if let fault = rules.fault(longitude: parts.longitude, latitude: parts.latitude) {
            let identifier =
                parts.identifier.count > 80 ? nil : String(decoding: parts.identifier, as: UTF8.self)
            return result.addFault(fault, identifier: identifier, range: 0..<text.count)
        }
        let blob = result.blob
        blob.append(length: parts.identifier.count)
        blob.append(length: parts.coordinates.count)
        blob.append(length: 0)
        blob.append(LentBytes(parts.identifier))
        blob.append(LentBytes(parts.coordinates))
        blob.append(LentBytes(parts.properties))
        // JSON's "-0" would be read as 0.
        result.endRow(longitude: parts.longitude + 0, latitude: parts.latitude + 0)
        result.seen += 1
    }

    /// Removes the features, but keeps the memory.
    public func removeAll() { result.removeAll() }
}

extension FeatureStoreBuilder {
    /// Makes an empty piece for this builder, or for one with the same rules and collector.
    public func makePiece() -> FeaturePiece { FeaturePiece(makeParser(), rules) }

    /// Adds a piece's features.
    public mutating func admit(_ piece: FeaturePiece) throws(GeoJSONError) {
        try admit(piece.result) { _ in nil }
    }
}

/// The properties of consecutive features. Used by one thread at a time.
public protocol PropertyPiece: AnyObject {
    /// - Parameter properties: the next valid feature's properties, an object or null. Valid only during the call.
    func add(_ properties: JSONElement)

    /// The same for a table's row.
    func add(_ row: TableRow)

    /// Removes all features.
    func removeAll()
}

/// Reads features' properties during parsing, when their values are available.
///
/// Each piece is filled by one thread; the collector receives pieces in the features' order. Used by one thread
/// at a time, the one that uses the builder.
public protocol PropertyCollector: AnyObject, Sendable {
    /// The memory held, in bytes.
    var memoryBytes: Int { get }

    func makePiece() -> any PropertyPiece

    /// Appends a piece's features. The piece must be one that this collector has made.
    func take(_ piece: any PropertyPiece)
}
