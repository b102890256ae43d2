// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

extension FeatureStore {
    /// Lends a plain store's arrays, valid during the call.
    public func withRecordStarts<Failure: Error>(
        _ body: (_ blockStarts: UnsafeRawBufferPointer, _ offsets: UnsafeRawBufferPointer) throws(Failure)
            -> Void
    ) throws(Failure) {
        try withExtendedLifetime(self) { () throws(Failure) in
            try body(
                UnsafeRawBufferPointer(records.blockStarts.values),
                UnsafeRawBufferPointer(records.offsets.values))
        }
    }

    /// A store whose text stays in a file.
    ///
    /// The arrays are checked.
    ///
    /// - Parameter owner: keeps the arrays valid and unchanged during its life.
    /// - Complexity: O(features), about 1 ms for a million, on all cores.
    public static func onText(
        _ text: any FeatureText, blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer,
        moments: FeatureMoments, owner: AnyObject
    ) throws(FeatureSectionError) -> FeatureStore {
        let records = try records(
            blockStarts: blockStarts, offsets: offsets, textCount: text.count, owner: owner)
        return FeatureStore(blob: FeatureBlob(), text: text, records: records, moments: moments, fresh: nil)
    }

    /// A store of which neither the text nor the arrays have been read. A feature may be read once `isSound`
    /// has found its record in the loaded parts of the arrays; nothing else may be.
    public static func onDemand(
        _ text: any FeatureText, blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer,
        owner: AnyObject
    ) throws(FeatureSectionError) -> FeatureStore {
        let records = try uncheckedRecords(blockStarts: blockStarts, offsets: offsets, owner: owner)
        return FeatureStore(
            blob: FeatureBlob(), text: text, records: records, moments: FeatureMoments(), fresh: nil)
    }

    /// The bytes of the arrays that say where a feature's record begins and ends.
    public func placeBytes(of feature: Int) -> (blockStarts: Range<Int>, offsets: Range<Int>) {
        let (size, blockSize) = (MemoryLayout<UInt32>.stride, MemoryLayout<Int64>.stride)
        let last = min(feature + 1, records.count - 1)
        return (
            feature / Self.blockSize * blockSize..<(last / Self.blockSize + 1) * blockSize,
            feature * size..<(last + 1) * size
        )
    }

    /// Whether a feature is there and its record lies within the text.
    public func isSound(_ feature: Int) -> Bool {
        guard feature >= 0, feature < records.count else { return false }
        let (start, end) = (start(feature), start(feature + 1))
        return start >= 0 && start <= end && end <= textCount
    }

    private static func records(
        blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer, textCount: Int, owner: AnyObject
    ) throws(FeatureSectionError) -> RecordOffsets {
        let records = try uncheckedRecords(blockStarts: blockStarts, offsets: offsets, owner: owner)
        try check(records, textCount: textCount)
        return records
    }

    /// Only the sizes are checked.
    private static func uncheckedRecords(
        blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer, owner: AnyObject
    ) throws(FeatureSectionError) -> RecordOffsets {
        let count = offsets.count / MemoryLayout<UInt32>.stride
        let blocks = (count + blockSize - 1) / blockSize
        guard offsets.count % MemoryLayout<UInt32>.stride == 0,
            blockStarts.count == blocks * MemoryLayout<Int64>.stride,
            Int(bitPattern: blockStarts.baseAddress) % MemoryLayout<Int64>.alignment == 0,
            Int(bitPattern: offsets.baseAddress) % MemoryLayout<UInt32>.alignment == 0
        else { throw FeatureSectionError(message: "its sections' sizes do not fit \(count) features") }
        return RecordOffsets(
            blockStarts: GrowingColumn(borrowing: blockStarts, owner: owner),
            offsets: GrowingColumn(borrowing: offsets, owner: owner))
    }

    /// A store on a file's text, which is read on demand and verified by checksum.
    /// If the checksum is wrong, the feature is empty and `isDamaged` becomes true.
    ///
    /// The other arrays are checked, and the checksums are copied.
    ///
    /// - Parameters:
    ///   - moments: when the features were inserted.
    ///   - owner: keeps the text and the arrays valid and unchanged during its life.
    ///   - load: loads a range of the text into memory before it is first read; false if that fails. Called
    ///     from any thread.
    /// - Complexity: O(features), about 1 ms for a million, on all cores.
    public static func onSections(
        _ sections: FeatureSections, moments: FeatureMoments = FeatureMoments(), owner: AnyObject,
        load: @escaping @Sendable (Range<Int>) -> Bool = { _ in true }
    ) throws(FeatureSectionError) -> FeatureStore {
        let chunks = (sections.text.count + TextGuard.chunkSize - 1) / TextGuard.chunkSize
        guard sections.checksums.count == chunks * MemoryLayout<UInt64>.stride
        else { throw FeatureSectionError(message: "it lacks checksums of its features") }
        let records = try records(
            blockStarts: sections.blockStarts, offsets: sections.offsets, textCount: sections.text.count,
            owner: owner)
        let sums = (0..<chunks).map {
            sections.checksums.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)
        }
        return FeatureStore(
            blob: FeatureBlob(
                borrowing: sections.text, owner: owner, guardian: TextGuard(checksums: sums, load: load)),
            records: records, moments: moments, fresh: nil)
    }

    /// Throws unless records are consecutive and within the text.
    private static func check(_ records: RecordOffsets, textCount: Int) throws(FeatureSectionError) {
        let found = Mutex<(block: Int, fault: FeatureSectionError)?>(nil)
        Parallel(.shared, threads: AvailableProcessors.count).forEachShare(
            of: 0..<records.blockStarts.count, smallest: blocksPerThread
        ) { blocks in
            guard let fault = fault(records, blocks, textCount: textCount) else { return }
            found.withLock { if blocks.lowerBound < $0?.block ?? .max { $0 = (blocks.lowerBound, fault) } }
        }
        if let found = found.withLock({ $0 }) { throw found.fault }
    }

    /// The least number of blocks for which a thread is worthwhile.
    private static let blocksPerThread = 4096

    /// The first fault in some blocks.
    private static func fault(
        _ records: RecordOffsets, _ blocks: Range<Int>, textCount: Int
    ) -> FeatureSectionError? {
        let (blockStarts, offsets) = (records.blockStarts, records.offsets)
        // The last record before these blocks, if its block begins within the text; if not, another share
        // reports that.
        var last = 0
        if blocks.lowerBound > 0, (0...textCount).contains(blockStarts[blocks.lowerBound - 1]) {
            last = records.start(blocks.lowerBound * blockSize - 1)
        }
        for block in blocks {
            let start = blockStarts[block]
            guard start >= last, start <= textCount else {
                return FeatureSectionError(message: "block \(block) of its features lies outside of its text")
            }
            let first = block * blockSize
            for place in first..<min(first + blockSize, offsets.count) {
                let record = start + Int(offsets[place])
                guard record >= last, record <= textCount else {
                    return FeatureSectionError(message: "feature \(place) lies outside of its text")
                }
                last = record
            }
        }
        return nil
    }

    /// When the features of a plain store were last inserted.
    public var plainMoments: FeatureMoments { moments }

    /// Whether text that was read is damaged, so that answers made from it are wrong.
    public var isDamaged: Bool { text?.isDamaged ?? blob.guardian?.isDamaged ?? false }

    /// Verifies all text that has not been read yet. False if some is damaged.
    ///
    /// - Parameters:
    ///   - demand: rises with each further use of the disk by others, beside their reads of this text, and
    ///     with each call while one lasts.
    ///   - pause: waits for a few milliseconds; called while others use the disk. Nil: without pauses.
    /// - Complexity: O(text), at several gigabytes per second.
    public func verifyText(
        isCancelled: () -> Bool = { false }, demand: () -> Int = { 0 }, pause: (() -> Void)? = nil
    ) -> Bool {
        text?.verify(isCancelled: isCancelled, demand: demand, pause: pause) ?? blob.guardian?.checkAll(
            blob.bytes, isCancelled: isCancelled)
            ?? true
    }
}

/// The arrays of a store as stored in a snapshot, in the machine's byte order.
public struct FeatureSections {
    /// All features' records.
    public let text: UnsafeRawBufferPointer
    /// For each block of 64 features, the offset of its first record, 64 bits.
    public let blockStarts: UnsafeRawBufferPointer
    /// For each feature, its record's offset from its block's start, 32 bits.
    public let offsets: UnsafeRawBufferPointer
    /// For each `TextGuard.chunkSize` bytes of the text, their `BlockChecksum`, 64 bits.
    public let checksums: UnsafeRawBufferPointer

    public init(
        text: UnsafeRawBufferPointer, blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer,
        checksums: UnsafeRawBufferPointer
    ) {
        self.text = text
        self.blockStarts = blockStarts
        self.offsets = offsets
        self.checksums = checksums
    }

    /// The range of a feature's record in the text. Only for sections from which a store could be made. O(1).
    public func record(_ index: Int) -> Range<Int> {
        let (start, end) = (start(of: index), start(of: index + 1))
        return start..<max(start, end)
    }

    private func start(of index: Int) -> Int {
        let stride = MemoryLayout<UInt32>.stride
        guard (index + 1) * stride <= offsets.count else { return text.count }
        let block = blockStarts.loadUnaligned(
            fromByteOffset: index / FeatureStore.blockSize * MemoryLayout<Int64>.stride, as: Int64.self)
        return Int(block) + Int(offsets.loadUnaligned(fromByteOffset: index * stride, as: UInt32.self))
    }
}

/// Why sections of a file are not a store of features.
public struct FeatureSectionError: Error, Sendable, Equatable {
    /// The message for the operator.
    public let message: String
}
