// SPDX-License-Identifier: MIT
import JSON

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

    /// A store on arrays that `withRecordStarts` lent and the text that they belong to, such as those of a
    /// snapshot. Nothing is copied, and only sizes are checked.
    ///
    /// - Parameter text: keeps the arrays valid and unchanged during its life.
    /// - Complexity: O(1).
    public static func onSections(
        _ text: any FeatureText, blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer,
        moments: FeatureMoments = FeatureMoments()
    ) throws(FeatureSectionError) -> FeatureStore {
        let count = offsets.count / MemoryLayout<UInt32>.stride
        let blocks = (count + blockSize - 1) / blockSize
        guard offsets.count % MemoryLayout<UInt32>.stride == 0,
            blockStarts.count == blocks * MemoryLayout<Int64>.stride,
            Int(bitPattern: blockStarts.baseAddress) % MemoryLayout<Int64>.alignment == 0,
            Int(bitPattern: offsets.baseAddress) % MemoryLayout<UInt32>.alignment == 0
        else { throw FeatureSectionError(message: "its sections' sizes do not fit \(count) features") }
        let records = RecordOffsets(
            blockStarts: GrowingColumn(borrowing: blockStarts, owner: text),
            offsets: GrowingColumn(borrowing: offsets, owner: text))
        return FeatureStore(blob: FeatureBlob(), text: text, records: records, moments: moments, fresh: nil)
    }

    /// When the features of a plain store were last inserted.
    public var plainMoments: FeatureMoments { moments }

    /// Whether text that was read is damaged, so that answers made from it are wrong.
    public var isDamaged: Bool { text?.isDamaged ?? false }

    /// Verifies the file that has the text. False if some of it is damaged.
    ///
    /// - Parameters:
    ///   - demand: rises with each further use of the disk by others, and with each call while one lasts.
    ///   - pause: waits for a few milliseconds; called while others use the disk. Nil: without pauses.
    /// - Complexity: O(text), at several gigabytes per second.
    public func verifyText(
        isCancelled: () -> Bool = { false }, demand: () -> Int = { 0 }, pause: (() -> Void)? = nil
    ) -> Bool {
        text?.verify(isCancelled: isCancelled, demand: demand, pause: pause) ?? true
    }
}

/// Why sections of a file are not a store of features.
public struct FeatureSectionError: Error, Sendable, Equatable {
    /// The message for the operator.
    public let message: String
}

extension FeatureStore {
    /// The size of a plain store's text, its records one after another.
    public var textBytes: Int { textCount }

    /// Lends a part of a plain store's text, valid only during the call; nil if it cannot be read.
    ///
    /// - Parameters:
    ///   - range: begins at a multiple of `textStep`; ends at one or at the end.
    ///   - window: memory for `textStep` bytes more, used for text in a file.
    public func withText<Result>(
        _ range: Range<Int>, window: UnsafeMutableRawBufferPointer,
        _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) rethrows -> Result {
        guard let text = textInFile, !range.isEmpty else {
            return try withExtendedLifetime(blob) {
                try body(blob.bytes.part(range).raw)
            }
        }
        guard let filled = text.fill(window, from: range.lowerBound), filled.lowerBound == range.lowerBound,
            filled.upperBound >= range.upperBound
        else { return try body(nil) }
        return try body(UnsafeRawBufferPointer(rebasing: window[..<range.count]))
    }

    /// A multiple of an image's pages.
    public static let textStep = 1 << 16

    /// A plain store's features on the arrays and the text of another store. Answers do not change.
    ///
    /// - Parameter other: has the same features.
    public func reading(_ other: FeatureStore) -> FeatureStore {
        FeatureStore(
            blob: FeatureBlob(), text: other.text, records: other.records, moments: moments, fresh: nil,
            lineage: lineage)
    }

    /// The same features on a plain store that `reading` returned for `plainBase`.
    public func moved(to base: FeatureStore) -> FeatureStore {
        guard let changes else { return base }
        let moved = FeatureChanges(
            base: base, locations: changes.locations, stores: changes.stores, rowCount: changes.rowCount,
            removedCount: changes.removedCount)
        return FeatureStore(changes: moved, count: count)
    }

    /// Appends some of a plain store's text. If it is damaged, `isDamaged` becomes true, and the appended
    /// text is useless.
    func appendText(_ range: Range<Int>, to target: JoinedText) {
        guard let text = textInFile else {
            return target.append(blob.bytes.part(range))
        }
        let window = UnsafeMutableRawBufferPointer.allocate(
            byteCount: FeatureScan.windowSize, alignment: 16)
        defer { window.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            guard let filled = text.fill(window, from: offset), filled.contains(offset) else {
                return target.append(zeros: range.upperBound - offset)
            }
            let end = min(filled.upperBound, range.upperBound)
            target.append(
                LentBytes(UnsafeRawBufferPointer(window))
                    .part(offset - filled.lowerBound..<end - filled.lowerBound))
            offset = end
        }
    }
}
