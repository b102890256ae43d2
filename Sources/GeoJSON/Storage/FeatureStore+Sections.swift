// SPDX-License-Identifier: MIT

/// Why sections of a file are not a store of features.
public struct FeatureSectionError: Error, Sendable, Equatable {
    /// What was found, for a person.
    public let message: String
}

/// The arrays of which a store consists, as a snapshot keeps them; in the machine's byte order.
public struct FeatureSections {
    /// All features' records.
    public let text: UnsafeRawBufferPointer
    /// 64 bits a block of 64 features: where its first record starts.
    public let blockStarts: UnsafeRawBufferPointer
    /// 32 bits a feature: where its record starts, from its block's start.
    public let offsets: UnsafeRawBufferPointer
    /// 64 bits for each `TextGuard.chunkSize` bytes of the text: their `BlockChecksum`.
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

    /// Where the record of a feature lies in the text; only of sections from which a store could be made. O(1).
    public func record(_ place: Int) -> Range<Int> {
        let (start, end) = (start(of: place), start(of: place + 1))
        return start..<max(start, end)
    }

    private func start(of place: Int) -> Int {
        let stride = MemoryLayout<UInt32>.stride
        guard (place + 1) * stride <= offsets.count else { return text.count }
        let block = blockStarts.loadUnaligned(
            fromByteOffset: place / FeatureStore.blockSize * MemoryLayout<Int64>.stride, as: Int64.self)
        return Int(block) + Int(offsets.loadUnaligned(fromByteOffset: place * stride, as: UInt32.self))
    }
}

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
    /// The arrays are copied and checked.
    ///
    /// - Complexity: O(features), about 2 ms for a million.
    public static func onText(
        _ text: any FeatureText, blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer,
        moments: FeatureMoments
    ) throws(FeatureSectionError) -> FeatureStore {
        let records = try records(blockStarts: blockStarts, offsets: offsets, textCount: text.count)
        return FeatureStore(blob: FeatureBlob(), text: text, records: records, moments: moments, fresh: nil)
    }

    private static func records(
        blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer, textCount: Int
    ) throws(FeatureSectionError) -> RecordOffsets {
        let count = offsets.count / MemoryLayout<UInt32>.stride
        let blocks = (count + blockSize - 1) / blockSize
        guard offsets.count % MemoryLayout<UInt32>.stride == 0,
            blockStarts.count == blocks * MemoryLayout<Int64>.stride
        else { throw FeatureSectionError(message: "its sections' sizes do not fit \(count) features") }
        let records = RecordOffsets(
            blockStarts: GrowingColumn(copying: blockStarts), offsets: GrowingColumn(copying: offsets))
        try check(records, textCount: textCount)
        return records
    }

    /// A store on a file's text, which is not read before it is asked for, and only where its checksum is
    /// right: otherwise the feature is empty and `isDamaged` true.
    ///
    /// The other arrays are copied and checked.
    ///
    /// - Parameters:
    ///   - moments: when the features were put in.
    ///   - owner: keeps the text valid and unchanged for as long as it lives.
    ///   - load: brings a range of the text into memory before it is first read; false if that fails. Called from
    ///     any thread.
    /// - Complexity: O(features), some 2 ms for a million.
    public static func onSections(
        _ sections: FeatureSections, moments: FeatureMoments = FeatureMoments(), owner: AnyObject,
        load: @escaping @Sendable (Range<Int>) -> Bool = { _ in true }
    ) throws(FeatureSectionError) -> FeatureStore {
        let chunks = (sections.text.count + TextGuard.chunkSize - 1) / TextGuard.chunkSize
        guard sections.checksums.count == chunks * MemoryLayout<UInt64>.stride
        else { throw FeatureSectionError(message: "it lacks checksums of its features") }
        let records = try records(
            blockStarts: sections.blockStarts, offsets: sections.offsets, textCount: sections.text.count)
        let sums = (0..<chunks).map {
            sections.checksums.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)
        }
        return FeatureStore(
            blob: FeatureBlob(
                borrowing: sections.text, owner: owner, guardian: TextGuard(checksums: sums, load: load)),
            records: records, moments: moments, fresh: nil)
    }

    /// Refuses records that would not lie one behind the other within the text.
    private static func check(_ records: RecordOffsets, textCount: Int) throws(FeatureSectionError) {
        let (blockStarts, offsets) = (records.blockStarts.values, records.offsets.values)
        var last = 0
        for (block, start) in blockStarts.enumerated() {
            guard start >= last, start <= textCount else {
                throw FeatureSectionError(message: "block \(block) of its features lies outside of its text")
            }
            let first = block * blockSize
            for place in first..<min(first + blockSize, offsets.count) {
                let record = start + Int(offsets[place])
                guard record >= last, record <= textCount else {
                    throw FeatureSectionError(message: "feature \(place) lies outside of its text")
                }
                last = record
            }
        }
    }

    /// When the features of a plain store were last put in.
    public var plainMoments: FeatureMoments { moments }

    /// Whether text that was asked for is not what was written: what was answered with it is wrong.
    public var isDamaged: Bool { text?.isDamaged ?? blob.guardian?.isDamaged ?? false }

    /// Checks all text that was not asked for yet. False where some is damaged.
    ///
    /// - Complexity: O(text), at some gigabytes a second.
    public func verifyText(isCancelled: () -> Bool = { false }) -> Bool {
        text?.verify(isCancelled: isCancelled) ?? blob.guardian?.checkAll(
            blob.bytes, isCancelled: isCancelled)
            ?? true
    }
}
