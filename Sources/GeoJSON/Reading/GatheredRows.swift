// SPDX-License-Identifier: MIT
import JSON

/// The rows of a store being built: records, their offsets, and coordinates.
struct GatheredRows: Sendable {
    var text = GatheredText()
    private let records = RecordOffsets()
    private let coordinates = FeatureCoordinates()

    /// The size of a record's offset and two coordinates.
    private static let bytesOfRow = 20

    var count: Int { records.count }

    /// The memory held after adding parsed rows, in bytes.
    func memoryBytes(adding parsed: ParsedFeatures) -> Int {
        text.memoryBytes + parsed.blob.count + (count + parsed.ends.count) * Self.bytesOfRow
    }

    /// Reserves memory for a text to come and its rows, so that growing does not reallocate. Untouched memory
    /// costs nothing.
    func expect(bytes: Int) {
        text.expect(bytes: bytes)
        let rows = max(0, min(bytes / Self.shortestFeature, Self.mostExpected))
        records.reserve(rows)
        coordinates.reserve(rows)
    }

    /// Few features take fewer bytes of a file.
    private static let shortestFeature = 64
    /// The most rows to reserve memory for, 80 MiB, since some systems limit untouched memory too.
    private static let mostExpected = 1 << 22

    /// Copies parsed rows after those before.
    mutating func append(_ parsed: ParsedFeatures) {
        var start = text.count
        for end in parsed.ends {
            records.append(start: start)
            start = text.count + end
        }
        coordinates.append(parsed.longitudes, parsed.latitudes)
        text.append(parsed.blob.bytes)
    }

    /// Lends a record, if the text is in memory.
    func withRecord<Result>(_ row: Int, _ body: (FeatureRecord) -> Result) -> Result {
        let end = row + 1 < count ? records.start(row + 1) : text.count
        return withExtendedLifetime(self) { body(FeatureRecord(text.bytes, records.start(row)..<end)) }
    }

    /// Copies rows that were gathered in memory after those before.
    mutating func append(_ other: GatheredRows) {
        let start = text.count
        for index in 0..<other.count { records.append(start: start + other.records.start(index)) }
        coordinates.append(other.coordinates)
        text.append(other.text.bytes)
    }

    /// Makes a store of the rows.
    ///
    /// - Parameter moments: when the features were inserted.
    func finish(_ moments: FeatureMoments) -> FeatureStore {
        records.shrink()
        coordinates.shrink()
        let (blob, file) = text.finish()
        return FeatureStore(blob: blob, text: file, records: records, moments: moments, fresh: coordinates)
    }
}
