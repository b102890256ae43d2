// SPDX-License-Identifier: MIT

/// The offsets of a store's records, relative to the start of their block of features.
///
/// - Invariant: there is a block start for each `FeatureStore.blockSize` offsets begun.
struct RecordOffsets: Sendable {
    /// By block: the offset of its first record.
    let blockStarts: GrowingColumn<Int>
    /// By feature: its record's offset from its block's start.
    let offsets: GrowingColumn<UInt32>

    init(capacity: Int = 64) {
        blockStarts = GrowingColumn(capacity: Self.blocks(capacity))
        offsets = GrowingColumn(capacity: capacity)
    }

    init(blockStarts: GrowingColumn<Int>, offsets: GrowingColumn<UInt32>) {
        (self.blockStarts, self.offsets) = (blockStarts, offsets)
    }

    var count: Int { offsets.count }

    /// Whether somebody else owns the arrays.
    var isBorrowed: Bool { offsets.isBorrowed }

    var memoryBytes: Int {
        offsets.count * MemoryLayout<UInt32>.stride + blockStarts.count * MemoryLayout<Int>.stride
    }

    @inline(__always) func start(_ index: Int) -> Int {
        blockStarts[index / FeatureStore.blockSize] &+ Int(offsets[index])
    }

    /// Appends a record that starts at `start`.
    @inline(__always) func append(start: Int) {
        if offsets.count % FeatureStore.blockSize == 0 { blockStarts.append(start) }
        offsets.append(UInt32(truncatingIfNeeded: start - blockStarts[blockStarts.count - 1]))
    }

    func reserve(_ more: Int) {
        offsets.reserve(more)
        blockStarts.reserve(Self.blocks(more))
    }

    func shrink() {
        blockStarts.shrink()
        offsets.shrink()
    }

    private static func blocks(_ count: Int) -> Int {
        (count + FeatureStore.blockSize - 1) / FeatureStore.blockSize
    }
}
