// SPDX-License-Identifier: MIT
import JSON

/// Writes rows as GeoJSON features.
struct RowWriter: Sendable {
    /// What a row becomes.
    enum Row: Equatable {
        /// A feature, whose text is in the writer and lacks the values of the gaps.
        case feature(gaps: [FeatureGap], parts: FeatureParts)
        case skipped(SkippedRows.Reason)
    }

    private let id: TableLayout.Column
    private let position: TableLayout.Position
    /// `,"name":` of each property, the first without the comma.
    private let keys: [[UInt8]]
    private let properties: [TableLayout.Column]
    private let kinds: [ValueKind]
    /// For each property, whether its text is written here and therefore valid JSON without a check.
    private let isKnownValid: [Bool]
    private let maximumBytes: Int
    private let isCopied: Bool
    /// How many values a row has.
    private let valueCount: Int

    /// - Parameters:
    ///   - maximumBytes: the maximum size of a feature's text.
    ///   - isCopied: whether rows come from a copy, in which the geometry is binary. In changes it is hexadecimal.
    init(_ layout: TableLayout, maximumBytes: Int, isCopied: Bool = false) {
        self.isCopied = isCopied
        (id, position, properties) = (layout.id, layout.position, layout.properties)
        self.maximumBytes = maximumBytes
        valueCount = layout.columns.count
        kinds = layout.properties.map(\.kind)
        isKnownValid = kinds.map(\.isKnownValid)
        keys = layout.properties.enumerated().map { index, column in
            var key = ByteWriter()
            if index > 0 { key.append(UInt8(ascii: ",")) }
            key.append(json: column.name)
            key.append(UInt8(ascii: ":"))
            return key.bytes
        }
    }

    /// The id as JSON text; nil if it is NULL or missing.
    func identifier(_ value: RowValue, of bytes: ArraySlice<UInt8>) throws(PostgresDataError) -> [UInt8]? {
        guard case .text(let text) = value else { return nil }
        var writer = ByteWriter(capacity: 64)
        try ValueWriter.append(bytes[text], as: id.kind, to: &writer)
        return writer.bytes
    }

    /// Appends the row's feature to `writer`.
    ///
    /// - Parameters:
    ///   - values: the row's values, in the order of `TableLayout.columns`.
    ///   - bytes: the bytes that have their texts.
    /// - Returns: `skipped` if the row is not a feature; then nothing was appended.
    func append(
        _ values: [RowValue], of bytes: ArraySlice<UInt8>, to writer: inout ByteWriter
    ) throws(PostgresDataError) -> Row {
        let start = writer.count
        guard values.count == valueCount else {
            throw PostgresDataError("a row has \(values.count) values instead of \(valueCount)")
        }
        guard case .text(let identifier) = values[0] else {
            return .skipped(values[0] == .tooLong ? .tooLarge : .noID)
        }
        var parts = FeatureParts()
        writer.append("{\"type\":\"Feature\",\"id\":")
        let identifierStart = writer.count
        try ValueWriter.append(bytes[identifier], as: id.kind, to: &writer)
        parts.identifier = identifierStart..<writer.count
        writer.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":")
        let coordinatesStart = writer.count
        writer.append(UInt8(ascii: "["))
        let (reason, first) = try appendPosition(values, bytes, &parts, to: &writer)
        if let reason {
            writer.truncate(to: start)
            return .skipped(reason)
        }
        writer.append(UInt8(ascii: "]"))
        parts.coordinates = coordinatesStart..<writer.count
        writer.append("},\"properties\":")
        let propertiesStart = writer.count
        writer.append(UInt8(ascii: "{"))
        var gaps: [FeatureGap] = []
        for index in kinds.indices {
            writer.append(contentsOf: keys[index])
            switch values[first + index] {
            case .null: writer.append("null")
            case .unchanged:
                gaps.append(FeatureGap(offset: writer.count - start, name: Array(properties[index].name.utf8)))
            case .tooLong:
                writer.truncate(to: start)
                return .skipped(.tooLarge)
            case .text(let text):
                if text.count > maximumBytes {
                    writer.truncate(to: start)
                    return .skipped(.tooLarge)
                }
                if !isKnownValid[index] || text.count > Self.longestNumber && kinds[index] == .number {
                    parts.isKnownValid = false
                }
                try ValueWriter.append(bytes[text], as: kinds[index], to: &writer)
            }
        }
        writer.append(UInt8(ascii: "}"))
        parts.properties = propertiesStart..<writer.count
        writer.append(UInt8(ascii: "}"))
        if writer.count - start > maximumBytes {
            writer.truncate(to: start)
            return .skipped(.tooLarge)
        }
        return .feature(gaps: gaps, parts: parts)
    }

    /// Numbers with more characters may be out of range for a JSON reader.
    private static let longestNumber = 300

    /// Appends the coordinates. Returns why there are none, if so, and the index of the first property's value.
    private func appendPosition(
        _ values: [RowValue], _ bytes: ArraySlice<UInt8>, _ parts: inout FeatureParts, to writer: inout ByteWriter
    ) throws(PostgresDataError) -> (SkippedRows.Reason?, Int) {
        switch position {
        case .geometry:
            let text: Range<Int>
            switch values[1] {
            case .text(let range): text = range
            case .null: return (.noPosition, 2)
            // A large geometry is not a point; one that is unchanged was not one before.
            case .unchanged, .tooLong: return (.notAPoint, 2)
            }
            let geometry = isCopied ? try PointGeometry(bytes[text]) : try PointGeometry(hexadecimal: bytes[text])
            return switch geometry {
            case .position(let longitude, let latitude, let altitude):
                (append(longitude, latitude, altitude, &parts, to: &writer), 2)
            case .empty: (.noPosition, 2)
            case .notAPoint: (.notAPoint, 2)
            case .foreignReference: (.otherReference, 2)
            }
        case .coordinates:
            guard case .text(let longitude) = values[1], case .text(let latitude) = values[2] else {
                return (.noPosition, 3)
            }
            // Texts that are not JSON numbers are NaN and the infinities.
            guard let x = JSONText.number(bytes[longitude]), let y = JSONText.number(bytes[latitude]) else {
                return (.notFinite, 3)
            }
            return (append(x, y, nil, &parts, to: &writer), 3)
        }
    }

    private func append(
        _ longitude: Double, _ latitude: Double, _ altitude: Double?, _ parts: inout FeatureParts,
        to writer: inout ByteWriter
    ) -> SkippedRows.Reason? {
        guard longitude.isFinite, latitude.isFinite else { return .notFinite }
        guard abs(longitude) <= 180, abs(latitude) <= 90 else { return .outOfRange }
        (parts.longitude, parts.latitude) = (longitude, latitude)
        writer.append(number: longitude)
        writer.append(UInt8(ascii: ","))
        writer.append(number: latitude)
        if let altitude, altitude.isFinite {
            writer.append(UInt8(ascii: ","))
            writer.append(number: altitude)
        }
        return nil
    }
}

/// The ranges of a feature's parts in its text, and its position in degrees.
public struct FeatureParts: Equatable {
    /// An integer or a string.
    public internal(set) var identifier = 0..<0
    public internal(set) var coordinates = 0..<0
    public internal(set) var properties = 0..<0
    public internal(set) var longitude = 0.0
    public internal(set) var latitude = 0.0
    /// Whether the text is certainly valid JSON: no part of it was copied from values of JSON types.
    public internal(set) var isKnownValid = true
}
