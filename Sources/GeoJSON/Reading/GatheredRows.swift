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
