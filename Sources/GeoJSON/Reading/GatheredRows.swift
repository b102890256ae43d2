// SPDX-License-Identifier: MIT

/// The rows of a store being built: records, their offsets, and coordinates.
struct GatheredRows: Sendable {
    private let blob = FeatureBlob()
    /// The file for text that is too long for `blob`, which no longer grows then.
    private var sink: (any TextSink)?
    /// Decides when that happens; nil for never. Must be set before the first row.
    var spill: TextSpill?
    /// The size of the text in bytes.
    private var textCount = 0
    private let records = RecordOffsets()
    private let coordinates = FeatureCoordinates()

    /// The size of a record's offset and two coordinates.
    private static let bytesOfRow = 20

    var count: Int { records.count }

    /// The memory held after adding parsed rows, in bytes.
    func memoryBytes(adding parsed: ParsedFeatures) -> Int {
        blob.count + (sink == nil ? parsed.blob.count : 0) + (count + parsed.ends.count) * Self.bytesOfRow
    }

    /// Reserves memory for a text to come and its rows, so that growing does not reallocate. Untouched memory
    /// costs nothing.
    func expect(bytes: Int) {
        blob.reserve(max(0, min(bytes, spill?.bytes ?? bytes)))
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
        let text = parsed.blob.bytes
        if sink == nil, let spill, textCount + text.count >= spill.bytes {
            sink = spill.make()
            if sink == nil { self.spill = nil }
        }
        if let sink { sink.write(text.raw, at: textCount) } else { blob.append(text) }
        var start = textCount
        for end in parsed.ends {
            records.append(start: start)
            start = textCount + end
        }
        let first = coordinates.count
        coordinates.extend(by: parsed.ends.count)
        coordinates.write(parsed.longitudes, parsed.latitudes, at: first)
        textCount += text.count
    }

    /// Makes a store of the rows.
    ///
    /// - Parameter moments: when the features were inserted.
    func finish(_ moments: FeatureMoments) -> FeatureStore {
        if sink == nil { blob.shrink() }
        records.shrink()
        coordinates.shrink()
        sink?.write(blob.bytes.raw, at: 0)
        let text = sink?.finish(count: textCount)
        return FeatureStore(
            blob: text == nil ? blob : FeatureBlob(), text: text, records: records, moments: moments,
            fresh: coordinates)
    }
}
