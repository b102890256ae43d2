// SPDX-License-Identifier: MIT

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
