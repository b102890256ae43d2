// SPDX-License-Identifier: MIT
extension FeatureStore {
    /// Lends a plain store's arrays, valid during the call.
    public func withRecordStarts<Failure: Error>(
        _ body: (_ blockStarts: UnsafeRawBufferPointer, _ offsets: UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try withExtendedLifetime(self) { () throws(Failure) in
            try body(UnsafeRawBufferPointer(records.blockStarts.values), UnsafeRawBufferPointer(records.offsets.values))
        }
    }

    /// How many features follow one block start.
    public static var rowsOfBlock: Int { blockSize }

    /// A store on arrays that `withRecordStarts` lent and the text that they belong to, such as those of a
    /// snapshot. Nothing is copied, and only sizes are checked.
    ///
    /// - Parameters:
    ///   - text: keeps the arrays valid and unchanged during its life.
    ///   - inputRows: the rows in the order of the input, 32 bits each; nil if they are in that order.
    /// - Complexity: O(1).
    public static func onSections(
        _ text: any FeatureText, blockStarts: UnsafeRawBufferPointer, offsets: UnsafeRawBufferPointer,
        inputRows: UnsafeRawBufferPointer? = nil, moments: FeatureMoments = FeatureMoments()
    ) throws(FeatureSectionError) -> FeatureStore {
        let count = offsets.count / MemoryLayout<UInt32>.stride
        let blocks = (count + blockSize - 1) / blockSize
        guard offsets.count % MemoryLayout<UInt32>.stride == 0,
            blockStarts.count == blocks * MemoryLayout<Int64>.stride,
            Int(bitPattern: blockStarts.baseAddress) % MemoryLayout<Int64>.alignment == 0,
            Int(bitPattern: offsets.baseAddress) % MemoryLayout<UInt32>.alignment == 0,
            inputRows.map({
                $0.count == offsets.count && Int(bitPattern: $0.baseAddress) % MemoryLayout<UInt32>.alignment == 0
            }) ?? true
        else { throw FeatureSectionError(message: "its sections' sizes do not fit \(count) features") }
        let records = RecordOffsets(
            blockStarts: GrowingColumn(borrowing: blockStarts, owner: text),
            offsets: GrowingColumn(borrowing: offsets, owner: text))
        return FeatureStore(
            text: text, records: records, inputRows: inputRows.map { GrowingColumn(borrowing: $0, owner: text) },
            moments: moments)
    }

    /// When the features of a plain store were last inserted.
    public var plainMoments: FeatureMoments { moments }

    /// Whether text that was read is damaged, so that answers made from it are wrong.
    public var isDamaged: Bool { text?.isDamaged ?? false }

    /// Verifies the file that has the text. False if some of it is damaged.
    ///
    /// - Parameter goesOn: called after each part of about a megabyte, and may wait. If false, the rest is not
    ///   verified.
    /// - Complexity: O(text), at several gigabytes per second.
    public func verifyText(goesOn: () -> Bool = { true }) -> Bool { text?.verify(goesOn: goesOn) ?? true }
}

/// Why sections of a file are not a store of features.
public struct FeatureSectionError: Error, Sendable, Equatable {
    /// The message for the operator.
    public let message: String
}
