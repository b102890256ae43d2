// SPDX-License-Identifier: MIT
import Synchronization

/// A source's features, immutable: their texts as sent, packed, without the parts that are the same in all features.
///
/// A feature takes about seven bytes besides the text of its id, coordinates and properties. The text may lie
/// in a file.
public final class FeatureStore: Sendable {
    /// The number of rows.
    public let count: Int

    let blob: GrowingColumn<UInt8>
    /// Has the bytes of `blob`; nil if the store owns them.
    public let text: (any FeatureText)?
    /// The offsets of the records.
    let records: RecordOffsets
    /// The rows in the order of the input; nil if they are in that order. Those of an image follow the curve of its index, so
    /// that neighbours on a map lie in the same pages.
    let inputRows: GrowingColumn<UInt32>?
    /// The delta to the members above, which are the base's; nil for a plain store.
    let changes: FeatureChanges?
    /// When the base's features were last inserted.
    let moments: FeatureMoments
    /// Identifies a store and all stores derived from it by updates; unique in this process.
    public let lineage: UInt64
    private static let lineages = Atomic<UInt64>(0)
    /// The coordinates from parsing, until they are taken or released.
    private let fresh: Mutex<FeatureCoordinates?>

    static let blockSize = 64

    /// - Parameter lineage: nil for a new one.
    /// - Precondition: records ascend within the text, and no block is of 4 GiB or more.
    init(
        blob: GrowingColumn<UInt8> = GrowingColumn(), text: (any FeatureText)? = nil, records: RecordOffsets,
        inputRows: GrowingColumn<UInt32>? = nil, moments: FeatureMoments, fresh: FeatureCoordinates? = nil,
        lineage: UInt64? = nil
    ) {
        self.moments = moments
        self.inputRows = inputRows
        self.count = records.count
        self.blob = text.map { GrowingColumn(borrowing: $0.bytes, owner: $0) } ?? blob
        self.text = text
        self.records = records
        self.changes = nil
        self.lineage = lineage ?? Self.lineages.add(1, ordering: .relaxed).newValue
        self.fresh = Mutex(fresh)
    }

    init(changes: FeatureChanges, count: Int) {
        self.count = count
        self.changes = changes
        blob = changes.base.blob
        text = changes.base.text
        records = changes.base.records
        inputRows = changes.base.inputRows
        moments = changes.base.moments
        lineage = changes.base.lineage
        fresh = Mutex(nil)
    }

    /// The memory that the features hold, in bytes, without what is evicted when memory is short.
    public var memoryBytes: Int {
        (isEvictable ? 0 : blob.count) + (isEvictable && records.isBorrowed ? 0 : records.memoryBytes)
            + (isEvictable ? 0 : (inputRows?.count ?? 0) * MemoryLayout<UInt32>.stride)
            + moments.starts.count * 12
            + (changes?.memoryBytes ?? 0)
    }

    /// Bytes of text that may have to be read from a file.
    public var fileBytes: Int { isEvictable ? blob.count : 0 }

    private var isEvictable: Bool { text?.isEvictable ?? false }

    /// The text that sequential readers copy from its file.
    var textInFile: (any FeatureText)? { isEvictable ? text : nil }

    /// Bytes of all records of the plain store.
    var textCount: Int { blob.count }

    /// Whether features can be read without waiting for a disk.
    public var isResident: Bool { !isEvictable }

    /// Whether a feature can be read without waiting for a disk. Moves its text into memory if the system has
    /// it in its page cache.
    ///
    /// - Parameter room: how many pages may still be moved.
    public func isResident(_ feature: Int, room: inout Int) -> Bool {
        guard let text, text.isEvictable, !isChanged(feature) else { return true }
        // A record ends where the next one begins.
        let (starts, offsets) = records.parts(feature..<min(feature + 2, records.count))
        guard text.isResident(starts, room: &room), text.isResident(offsets, room: &room) else { return false }
        return text.isResident(UnsafeRawBufferPointer(rebasing: text.bytes[range(feature)]), room: &room)
    }

    /// Whether a reader of a feature would have to wait for a disk. Moves nothing into memory.
    public func isOnDisk(_ feature: Int) -> Bool {
        var room = 0
        return isEvictable && !isResident(feature, room: &room)
    }

    @inline(__always) func start(_ index: Int) -> Int {
        index == records.count ? textCount : records.start(index)
    }

    /// The range of a feature's record in the plain store. It lies within the text, whatever the offsets are,
    /// which may be zeros of a damaged image.
    @inline(__always) func range(_ index: Int) -> Range<Int> {
        let start = within(start(index))
        return start..<max(start, within(self.start(index + 1)))
    }

    @inline(__always) private func within(_ offset: Int) -> Int {
        Int(bitPattern: min(UInt(bitPattern: offset), UInt(bitPattern: textCount)))
    }

    /// The range of a feature's record in a plain store's text. O(1).
    public func recordRange(_ index: Int) -> Range<Int> { range(index) }

    /// Lends a feature's record. Once `isDamaged` is true, it may be empty or wrong.
    @inline(__always) func withRecord<Result>(
        _ index: Int, _ body: (FeatureRecord) throws -> Result
    ) rethrows -> Result {
        try body(record(index))
    }

    /// A record, valid while the store is alive.
    @inline(__always) func record(_ index: Int) -> FeatureRecord {
        if let changes, let location = changes.location(of: index) {
            return location.isRemoved ? .empty : changes.stores[location.store].plainRecord(Int(location.row))
        }
        return plainRecord(index)
    }

    /// The record of a plain store: by a function of its own, since one that calls itself is not inlined.
    @inline(__always) private func plainRecord(_ index: Int) -> FeatureRecord {
        FeatureRecord(blob.bytes, range(index))
    }

    /// Reads the start of a feature's text, so that it is in the processor's cache: short reads of several features wait for
    /// memory at once. Not inlined, since nothing needs what is read. O(1).
    @inline(never) @discardableResult public func touch(_ index: Int) -> UInt8 {
        guard let changes, let location = changes.location(of: index) else { return firstByte(of: index) }
        return location.isRemoved ? 0 : changes.stores[location.store].firstByte(of: Int(location.row))
    }

    @inline(__always) private func firstByte(of index: Int) -> UInt8 {
        let start = within(start(index))
        return start < textCount ? blob.bytes[start] : 0
    }

    /// A feature's first coordinate, in degrees. O(1): its text is read.
    public func longitude(_ index: Int) -> Double { coordinates(index).longitude }

    /// A feature's second coordinate, in degrees.
    public func latitude(_ index: Int) -> Double { coordinates(index).latitude }

    public func coordinates(_ index: Int) -> (longitude: Double, latitude: Double) {
        withRecord(index) { $0.coordinateNumbers }
    }

    /// Takes the coordinates left from parsing; nil if they have been taken or released.
    func takeFresh() -> FeatureCoordinates? {
        fresh.withLock { fresh in
            defer { fresh = nil }
            return fresh
        }
    }

    /// Lends a feature's id as JSON text; nil if it has none.
    public func withIdentifier<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        try withRecord(index) { record in
            try body(record.identifier.isEmpty ? nil : record.identifier)
        }
    }

    /// Lends a feature's properties as JSON text: an object or null.
    public func withProperties<Result>(
        _ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try withRecord(index) { try body($0.properties) }
    }

    /// Lends a feature's id as JSON text, nil if it has none, and its properties: an object or null.
    public func withIdentifierAndProperties(
        _ index: Int, _ body: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer) -> Void
    ) {
        withRecord(index) { record in
            body(record.identifier.isEmpty ? nil : record.identifier, record.properties)
        }
    }

    public func hasIdentifier(_ index: Int) -> Bool { withRecord(index) { !$0.identifier.isEmpty } }
}

/// A range of a store's features.
public struct FeatureSlice {
    public let store: FeatureStore
    public let rows: Range<Int>

    /// - Parameter rows: clamped to the store's rows.
    public init(store: FeatureStore, rows: Range<Int>) {
        self.store = store
        self.rows = rows.clamped(to: 0..<store.count)
    }
}
