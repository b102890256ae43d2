// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// Values that only ever come behind others, in blocks that copies share: what a copy costs is a reference a
/// block.
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

/// One aggregated property's value for each cluster that updates made; none of them null.
package enum LiveColumn: Sendable {
    case numbers(GrowingValues<Double>)
    /// 0 false, else true.
    case flags(GrowingValues<UInt8>)
    case means(sums: GrowingValues<Double>, counts: GrowingValues<UInt32>)
    case counts(GrowingValues<UInt32>)

    package func write(_ place: Int, into bytes: inout ByteWriter) {
        switch self {
        case .numbers(let numbers): bytes.append(number: numbers[place])
        case .flags(let flags): bytes.append(flags[place] == 0 ? "false" : "true")
        case .means(let sums, let counts): bytes.append(number: sums[place] / Double(counts[place]))
        case .counts(let counts): bytes.append(integer: counts[place])
        }
    }

    package var memoryBytes: Int {
        switch self {
        case .numbers(let numbers): numbers.memoryBytes
        case .flags(let flags): flags.memoryBytes
        case .means(let sums, let counts): sums.memoryBytes + counts.memoryBytes
        case .counts(let counts): counts.memoryBytes
        }
    }
}
