// SPDX-License-Identifier: MIT
import JSON
import Synchronization

/// A source's features, immutable: their texts as they were sent, packed, without what is the same in all.
///
/// A feature costs its id's, coordinates' and properties' text and some seven bytes.
public final class FeatureStore: Sendable {
    /// How many features there are.
    public let count: Int

    let blob: FeatureBlob
    /// Where the records start.
    let records: RecordOffsets
    /// What is otherwise than in the members above, which are the base's; nil where there is nothing.
    let changes: FeatureChanges?
    /// When the features, the base's where there are changes, were last put in.
    let moments: FeatureMoments
    /// The same for a store and all that are made of it by changes, and for no other of this process.
    public let lineage: UInt64
    private static let lineages = Atomic<UInt64>(0)
    /// Coordinates that reading has left, until they are asked for or given up.
    private let fresh: Mutex<FeatureCoordinates?>

    static let blockSize = 64

    /// - Precondition: `ends` ascend, the last being the blob's count, and no block is of 4 GiB or more.
    init(
        blob: FeatureBlob, records: RecordOffsets, moments: FeatureMoments, fresh: FeatureCoordinates?
    ) {
        self.moments = moments
        self.count = records.count
        self.blob = blob
        self.records = records
        self.changes = nil
        lineage = Self.lineages.add(1, ordering: .relaxed).newValue
        self.fresh = Mutex(fresh)
    }

    init(changes: FeatureChanges, count: Int) {
        self.count = count
        self.changes = changes
        blob = changes.base.blob
        records = changes.base.records
        moments = changes.base.moments
        lineage = changes.base.lineage
        fresh = Mutex(nil)
    }

    /// The memory that the features hold, in bytes.
    public var memoryBytes: Int {
        blob.count + records.memoryBytes + moments.starts.count * 12 + (changes?.memoryBytes ?? 0)
    }

    @inline(__always) func start(_ index: Int) -> Int {
        index == records.count ? blob.count : records.start(index)
    }

    @inline(__always) func record(_ index: Int) -> FeatureRecord {
        if let changes, let place = changes.place(of: index) { return record(place, changes) }
        let range = start(index)..<start(index + 1)
        // A damaged file's record is empty; `isDamaged` tells afterwards that answers made of it are wrong.
        if let guardian = blob.guardian, !guardian.admits(range, of: blob.bytes) {
            return FeatureRecord(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return FeatureRecord(UnsafeRawBufferPointer(rebasing: blob.bytes[range]))
    }

    private func record(_ place: FeatureChanges.Place, _ changes: FeatureChanges) -> FeatureRecord {
        guard place.store != .max else { return FeatureRecord(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return changes.stores[Int(place.store)].record(Int(place.row))
    }

    /// A feature's first coordinate, in degrees. O(1): its text is read.
    public func longitude(_ index: Int) -> Double { coordinates(index).longitude }

    /// A feature's second coordinate, in degrees.
    public func latitude(_ index: Int) -> Double { coordinates(index).latitude }

    public func coordinates(_ index: Int) -> (longitude: Double, latitude: Double) {
        let text = record(index).coordinates
        guard !text.isEmpty else { return (0, 0) }
        var place = 1
        let longitude = Self.number(text, &place)
        return (longitude, Self.number(text, &place))
    }

    /// The number that starts at or behind `place`, which is moved behind the comma that ends it.
    private static func number(_ text: UnsafeRawBufferPointer, _ place: inout Int) -> Double {
        while place < text.count, text[place] <= UInt8(ascii: " ") { place += 1 }
        let start = place
        while place < text.count, text[place] != UInt8(ascii: ","), text[place] != UInt8(ascii: "]"),
            text[place] > UInt8(ascii: " ")
        {
            place += 1
        }
        let number = JSONText.number(UnsafeRawBufferPointer(rebasing: text[start..<place])) ?? 0
        while place < text.count, text[place] != UInt8(ascii: ",") { place += 1 }
        place = min(place + 1, text.count)
        return number
    }

    /// The coordinates that reading has left, which are given up with this; nil where they are not at hand.
    func takeFresh() -> FeatureCoordinates? {
        fresh.withLock { fresh in
            defer { fresh = nil }
            return fresh
        }
    }

    /// Lends a feature's id as JSON text; nil where it has none.
    public func withIdentifier<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        let identifier = record(index).identifier
        return try body(identifier.isEmpty ? nil : identifier)
    }

    /// Lends a feature's properties as JSON text: an object or null.
    public func withProperties<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(record(index).properties)
    }

    /// Lends a feature's id as JSON text, nil where it has none, and its properties: an object or null.
    public func withIdentifierAndProperties<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let record = record(index)
        return try body(record.identifier.isEmpty ? nil : record.identifier, record.properties)
    }

    public func hasIdentifier(_ index: Int) -> Bool { !record(index).identifier.isEmpty }
}
