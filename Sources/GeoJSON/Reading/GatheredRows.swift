// SPDX-License-Identifier: MIT
import Glibc

/// The rows of a store being built: records, their offsets, and coordinates.
///
/// Parsed pieces reserve their part of the columns in order, one after another. Then several threads may fill
/// their parts at the same time.
///
/// Invariant: one thread at a time reserves, since that requires the builder. The columns are reallocated
/// only while the lock is held for writing, and are filled while it is held for reading. No two reservations
/// overlap. Nobody fills after `finish`. So it may be shared.
final class GatheredRows: @unchecked Sendable {
    /// A piece's part of the columns.
    struct Reservation {
        fileprivate let firstRow: Int
        fileprivate let firstByte: Int
        /// The start of the first row's block, if the row is not the block's first.
        fileprivate let blockStart: Int
    }

    private let blob: FeatureBlob
    /// The file for text that is too long for `blob`, which no longer grows then.
    private var sink: (any TextSink)?
    /// Decides when that happens; nil for never.
    private var spill: TextSpill?
    /// The size of the text in bytes.
    private var textCount = 0
    private let records: RecordOffsets
    private let coordinates = FeatureCoordinates()
    /// The start of the last row's block.
    private var blockStart = 0
    private let lock: UnsafeMutablePointer<pthread_rwlock_t>

    init() {
        (blob, records) = (FeatureBlob(), RecordOffsets())
        lock = .allocate(capacity: 1)
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    /// The size of a record's offset and two coordinates.
    static let bytesOfRow = 20

    var count: Int { records.count }

    var memoryBytes: Int { blob.count + count * Self.bytesOfRow }

    /// The memory held after adding the parsed rows, in bytes.
    func memoryBytes(adding parsed: ParsedFeatures) -> Int {
        memoryBytes + (sink == nil ? parsed.blob.count : 0) + parsed.ends.count * Self.bytesOfRow
    }

    /// Sets when the text goes to a file. Must be called before the first row.
    func spill(to spill: TextSpill?) { self.spill = spill }

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

    /// Reserves a part for a piece after those of earlier pieces.
    func reserve(for parsed: ParsedFeatures) -> Reservation {
        let reservation = Reservation(firstRow: count, firstByte: textCount, blockStart: blockStart)
        let (rows, bytes) = (parsed.ends.count, parsed.blob.count)
        let spills = sink == nil && spill.map { textCount + bytes >= $0.bytes } ?? false
        let isRoomy =
            (sink != nil || blob.hasRoom(for: bytes)) && records.hasRoom(for: rows)
            && coordinates.hasRoom(for: rows) && !spills
        if !isRoomy { pthread_rwlock_wrlock(lock) }
        if spills { beginSink() }
        if sink == nil { blob.extend(by: bytes) }
        textCount += bytes
        records.extend(by: rows)
        coordinates.extend(by: rows)
        if !isRoomy { pthread_rwlock_unlock(lock) }
        let lastBlock = (count - 1) / FeatureStore.blockSize * FeatureStore.blockSize
        if rows > 0, lastBlock >= reservation.firstRow {
            let before = lastBlock - reservation.firstRow
            blockStart = reservation.firstByte + (before == 0 ? 0 : parsed.ends[before - 1])
        }
        return reservation
    }

    private func beginSink() {
        sink = spill?.make()
        if sink == nil { spill = nil }
    }

    /// Copies a piece into its part. Safe while other pieces are filled and reserved.
    func fill(_ part: Reservation, from parsed: ParsedFeatures) {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        if let sink, part.firstByte >= blob.count {
            sink.write(parsed.blob.bytes, at: part.firstByte)
        } else {
            blob.write(parsed.blob.bytes, at: part.firstByte)
        }
        coordinates.write(parsed.longitudes, parsed.latitudes, at: part.firstRow)
        var (row, start, blockStart) = (part.firstRow, part.firstByte, part.blockStart)
        for end in parsed.ends {
            if row % FeatureStore.blockSize == 0 {
                blockStart = start
                records.blockStarts.base[row / FeatureStore.blockSize] = start
            }
            records.offsets.base[row] = UInt32(truncatingIfNeeded: start - blockStart)
            start = part.firstByte + end
            row += 1
        }
    }

    /// Makes a store of the rows. Nothing may be reserved or filled afterwards.
    ///
    /// - Parameter moments: when the features were inserted.
    func finish(_ moments: FeatureMoments) -> FeatureStore {
        if sink == nil { blob.shrink() }
        records.shrink()
        coordinates.shrink()
        sink?.write(blob.bytes, at: 0)
        let text = sink?.finish(count: textCount)
        return FeatureStore(
            blob: text == nil ? blob : FeatureBlob(), text: text, records: records, moments: moments,
            fresh: coordinates)
    }
}
