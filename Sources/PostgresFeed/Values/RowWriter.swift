// SPDX-License-Identifier: MIT
import JSON

/// Writes rows as GeoJSON features.
struct RowWriter: Sendable {
    /// What a row is.
    enum Row: Equatable {
        /// The text is in the writer; it lacks the values of the gaps.
        case feature(gaps: [FeatureGap], parts: Parts)
        case skipped(SkippedRows.Reason)
    }

    /// Where a feature's parts are in its text.
    struct Parts: Equatable {
        var identifier = 0..<0
        var coordinates = 0..<0
        var properties = 0..<0
        var longitude = 0.0
        var latitude = 0.0
        /// Whether all values were written so that they need no validation.
        var isPlain = true
    }

    private let id: TableLayout.Column
    private let position: TableLayout.Position
    /// `,"name":` of each property, the first without the comma.
    private let keys: [[UInt8]]
    private let properties: [TableLayout.Column]
    /// Of each property, whether its texts are made here, and valid JSON without another look.
    private let isPlain: [Bool]
    private let maximumBytes: Int
    private let isCopied: Bool

    /// - Parameters:
    ///   - maximumBytes: how large a feature's text may be.
    ///   - isCopied: whether rows are a copy's, which have the geometry in binary form. Changes have it in hexadecimal form.
    init(_ layout: TableLayout, maximumBytes: Int, isCopied: Bool = false) {
        self.isCopied = isCopied
        (id, position, properties) = (layout.id, layout.position, layout.properties)
        self.maximumBytes = maximumBytes
        isPlain = layout.properties.map(\.kind.isPlain)
        keys = layout.properties.enumerated().map { index, column in
            var key = ByteWriter()
            if index > 0 { key.append(UInt8(ascii: ",")) }
            key.append(json: column.name)
            key.append(UInt8(ascii: ":"))
            return key.bytes
        }
    }

    /// The id as JSON text; nil if it is NULL or missing.
    func identifier(_ value: RowValue) throws(PostgresDataError) -> [UInt8]? {
        guard case .text(let text) = value else { return nil }
        var writer = ByteWriter(capacity: 64)
        try ValueWriter.append(text, as: id.kind, to: &writer)
        return writer.bytes
    }

    /// Appends the row's feature to `writer`.
    ///
    /// - Parameter values: in the order of `TableLayout.columns`.
    /// - Returns: `skipped` if it is not a feature; then nothing was appended.
    func append(_ values: [RowValue], to writer: inout ByteWriter) throws(PostgresDataError) -> Row {
        let start = writer.count
        guard case .text(let identifier) = values[0] else { return .skipped(.noID) }
        var parts = Parts()
        writer.append("{\"type\":\"Feature\",\"id\":")
        let identifierStart = writer.count
        try ValueWriter.append(identifier, as: id.kind, to: &writer)
        parts.identifier = identifierStart..<writer.count
        writer.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":")
        let coordinatesStart = writer.count
        writer.append(UInt8(ascii: "["))
        let (reason, first) = try appendPosition(values, &parts, to: &writer)
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
        for (index, column) in properties.enumerated() {
            writer.append(contentsOf: keys[index])
            switch values[first + index] {
            case .null: writer.append("null")
            case .unchanged:
                gaps.append(FeatureGap(offset: writer.count - start, name: Array(column.name.utf8)))
            case .text(let text):
                if text.count > maximumBytes {
                    writer.truncate(to: start)
                    return .skipped(.tooLarge)
                }
                if !isPlain[index] || text.count > Self.longestNumber && column.kind == .number {
                    parts.isPlain = false
                }
                try ValueWriter.append(text, as: column.kind, to: &writer)
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

    /// Numbers with more characters may be beyond what a reader of JSON takes.
    private static let longestNumber = 300

    /// Appends the coordinates; why there are none, and the index of the first property's value.
    private func appendPosition(
        _ values: [RowValue], _ parts: inout Parts, to writer: inout ByteWriter
    ) throws(PostgresDataError) -> (SkippedRows.Reason?, Int) {
        switch position {
        case .geometry:
            // A large geometry that did not change is not a point, and was none before.
            if case .unchanged = values[1] { return (.notAPoint, 2) }
            guard case .text(let text) = values[1] else { return (.noPosition, 2) }
            return switch isCopied ? try PointGeometry(text) : try PointGeometry(hexadecimal: text) {
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
            // The texts that are not JSON numbers are NaN and the infinities.
            guard let x = JSONText.number(longitude), let y = JSONText.number(latitude) else {
                return (.notFinite, 3)
            }
            return (append(x, y, nil, &parts, to: &writer), 3)
        }
    }

    private func append(
        _ longitude: Double, _ latitude: Double, _ altitude: Double?, _ parts: inout Parts,
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
