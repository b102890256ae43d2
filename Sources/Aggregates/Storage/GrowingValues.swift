// SPDX-License-Identifier: MIT

/// An append-only array. Copies share its blocks, so a copy costs one reference count for each block.
package struct GrowingValues<Value: BitwiseCopyable & Sendable>: Sendable {
    private static var shift: Int { 9 }
    private static var blockCount: Int { 1 << shift }

    private var blocks: [[Value]] = []
    package private(set) var count = 0

    package init() {}

    package var memoryBytes: Int { count * MemoryLayout<Value>.stride }

    /// - Precondition: `0 <= index < count`.
    @inline(__always) package subscript(index: Int) -> Value {
        blocks[index >> Self.shift][index & (Self.blockCount - 1)]
    }

    package mutating func append(_ value: Value) {
        if count & (Self.blockCount - 1) == 0 { blocks.append([]) }
        blocks[count >> Self.shift].append(value)
        count += 1
    }
}
