// SPDX-License-Identifier: MIT

/// Features that follow each other, on their way into a builder. Several pieces may be filled at the same time, each by
/// one thread; the builder admits them in their order, one at a time.
public final class FeaturePiece {
    private let parser: PieceParser
    private let rules: FeatureRules
    /// Whether a point's parts can be taken over as they are.
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

    /// Appends the feature that a text is: what is wrong with it counts as with any text that is imported.
    ///
    /// - Parameters:
    ///   - text: one GeoJSON feature.
    ///   - parts: those of the text, if the caller has made it of them and knows it to be valid; nil to have it read.
    public func append(_ text: UnsafeRawBufferPointer, parts: PointParts?) {
        guard takesParts, let parts else { return parser.parse(single: text) }
        if let fault = rules.fault(longitude: parts.longitude, latitude: parts.latitude) {
            let identifier =
                parts.identifier.count > 80 ? nil : String(decoding: parts.identifier, as: UTF8.self)
            return result.addFault(fault, identifier: identifier, range: 0..<text.count)
        }
        let blob = result.blob
        blob.append(length: parts.identifier.count)
        blob.append(length: parts.coordinates.count)
        blob.append(length: 0)
        blob.append(parts.identifier)
        blob.append(parts.coordinates)
        blob.append(parts.properties)
        // JSON's "-0" would be read as 0.
        result.endRow(longitude: parts.longitude + 0, latitude: parts.latitude + 0)
        result.seen += 1
    }

    /// Forgets the features, but keeps their room.
    public func removeAll() { result.removeAll() }
}

extension FeatureStoreBuilder {
    /// An empty piece that this builder, or one of the same rules and collector, admits.
    public func makePiece() -> FeaturePiece { FeaturePiece(parserMaker.makeParser(), rules) }

    /// Takes over what was read, all but its bytes, for which it reserves a part: `fill` copies them there, beside other
    /// pieces' filling and admission, and before `finish`.
    public mutating func admit(_ piece: FeaturePiece) throws(GeoJSONError) -> AdmittedPiece {
        AdmittedPiece(rows: rows, part: try admit(piece.result) { _ in nil }, piece: piece)
    }
}

/// A piece whose part of a builder is reserved.
public struct AdmittedPiece {
    let rows: GatheredRows
    let part: GatheredRows.Reservation
    public let piece: FeaturePiece

    public func fill() { rows.fill(part, from: piece.result) }
}
