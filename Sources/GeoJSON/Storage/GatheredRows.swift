// SPDX-License-Identifier: MIT
import Glibc

/// Rows on their way into a store: records, where they start, and coordinates.
///
/// Parsed pieces get their part of the columns in their order, one after another; then several threads may fill their
/// parts at the same time.
///
/// Invariant: one thread at a time reserves, since that takes a builder; the columns move only while the lock is held
/// for writing, and are filled while it is held for reading; no two reservations overlap. After `finish` nobody fills.
/// That is why it may be shared.
final class GatheredRows: @unchecked Sendable {
    /// A piece's part of the columns.
    struct Reservation {
        fileprivate let firstRow: Int
        fileprivate let firstByte: Int
        /// Where the block starts that the first row belongs to, if that is not the block's first.
        fileprivate let blockStart: Int
    }

    private let blob: FeatureBlob
    /// Where the text goes on that is too long for `blob`, which does not grow any more then.
    private var sink: (any TextSink)?
    /// When that is; nil: never.
    private var spill: TextSpill?
    /// Bytes of text.
    private var textCount = 0
    private let records: RecordOffsets
    private let coordinates = FeatureCoordinates()
    /// Where the last row's block starts.
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

    /// A record's start and two coordinates.
    static let bytesOfRow = 20

    var count: Int { records.count }

    var memoryBytes: Int { blob.count + count * Self.bytesOfRow }

    /// Bytes of memory that rows take which are about to be added.
    func memoryBytes(adding parsed: ParsedFeatures) -> Int {
        memoryBytes + (sink == nil ? parsed.blob.count : 0) + parsed.ends.count * Self.bytesOfRow
    }

    /// Says when the text goes to a file. To be called before the first row comes.
    func spill(to spill: TextSpill?) { self.spill = spill }

    /// Makes room for a text that is to come, so that growing need not move anything. Untouched room costs nothing.
    func expect(bytes: Int) { blob.reserve(max(0, min(bytes, spill?.bytes ?? bytes))) }

    /// Takes a part for a piece behind those of the pieces before.
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

    /// Copies a piece into its part. Safe beside other pieces' filling and reserving.
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

    /// The rows as a store; nothing may be reserved or filled any more.
    ///
    /// - Parameter moments: when the features were put in.
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
