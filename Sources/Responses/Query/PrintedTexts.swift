// SPDX-License-Identifier: MIT
import Clustering
import Glibc
import JSON
import SourceEngine
import Synchronization
import SystemSupport

/// Serialized features by node, each with a comma before it if it is JSON. Safe from any thread, without a lock.
///
/// Invariant: `entries` has `ways` values for each of `setMask + 1` sets and `texts` has `capacity` bytes behind them,
/// in one block from malloc that `deinit` frees. Each byte below `used` has been assigned to one writer, which
/// writes it before it publishes an entry; afterwards nobody writes it again. A nonzero entry is
/// therefore the position of a complete text, which any thread that has read the entry may read. So this may be shared.
final class PrintedTexts: @unchecked Sendable {
    private let texts: UnsafeMutableRawPointer
    private let entries: UnsafeMutablePointer<Atomic<UInt64>>
    private let setMask: Int
    let capacity: Int
    /// The bytes before each text: a comma, or nothing.
    fileprivate let separators: Int
    private let used = Atomic<Int>(0)
    /// The number of cached texts, and how often they were reused.
    private let kept = Atomic<Int>(0)
    private let found = Atomic<Int>(0)

    /// The number of adjacent entries in which a node may be.
    private static let ways = 2
    /// Half the size of the shortest texts, so that few nodes evict each other.
    private static let bytesPerEntry = 64
    /// Texts so long that fewer than this many would fit are not cached.
    private static let fewestTexts = 16

    /// - Parameters:
    ///   - capacity: bytes of texts; a power of two from 16 KiB to 16 MiB.
    ///   - areJSON: whether a comma stands between texts.
    init(capacity: Int, areJSON: Bool) {
        self.capacity = capacity
        separators = areJSON ? 1 : 0
        let count = capacity / Self.bytesPerEntry
        let tableBytes = count * MemoryLayout<UInt64>.stride
        setMask = count / Self.ways - 1
        let block = LargePages.allocate(tableBytes + capacity)
        entries = block.bindMemory(to: Atomic<UInt64>.self, capacity: count)
        texts = block + tableBytes
        for index in 0..<count { (entries + index).initialize(to: Atomic(0)) }
    }

    deinit {
        entries.deinitialize(count: (setMask + 1) * Self.ways)
        LargePages.deallocate(entries)
    }

    /// Bytes that are held.
    var memoryBytes: Int { capacity + (setMask + 1) * Self.ways * MemoryLayout<UInt64>.stride }

    /// The range of a node's text; empty if it is not cached.
    @inline(__always) func find(_ node: Node) -> Range<Int> { Entry.range(entry(of: node)) }

    /// A node's entry; 0 if it has none.
    @inline(__always) func entry(of node: Node) -> UInt64 {
        let (set, tag) = slot(of: node)
        for way in 0..<Self.ways {
            let entry = entries[set &+ way].load(ordering: .acquiring)
            if entry & Entry.tagMask == tag { return entry }
        }
        return 0
    }

    /// Counts reused texts.
    func countFound(_ count: Int) { found.add(count, ordering: .relaxed) }

    /// The number of cached texts.
    var keptCount: Int { kept.load(ordering: .relaxed) }
    /// Whether texts were reused as often as texts were cached. If not, caching costs more than it saves.
    var hasPaid: Bool { found.load(ordering: .relaxed) >= keptCount }

    /// Writes adjacent texts.
    @inline(__always) func write(_ range: Range<Int>, into bytes: inout ByteWriter) {
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: texts + range.lowerBound, count: range.count))
    }

    /// Caches a node's text, unless it is very long. May evict another node's text.
    ///
    /// - Parameters:
    ///   - bytes: end with the text, without the comma.
    ///   - start: where the text begins.
    /// - Returns: false if there is no room left.
    func keep(_ bytes: borrowing ByteWriter, from start: Int, of node: Node) -> Bool {
        bytes.withUnsafeBytes { keep(UnsafeRawBufferPointer(rebasing: $0[start...]), of: node) }
    }

    func keep(_ text: UnsafeRawBufferPointer, of node: Node) -> Bool {
        let length = text.count + separators
        guard let source = text.baseAddress, length <= min(Entry.longest, capacity / Self.fewestTexts) else {
            return true
        }
        let start = used.add(length, ordering: .relaxed).oldValue
        guard start <= capacity - length else { return false }
        if separators > 0 { texts.storeBytes(of: UInt8(ascii: ","), toByteOffset: start, as: UInt8.self) }
        (texts + start + separators).copyMemory(from: source, byteCount: text.count)
        kept.add(1, ordering: .relaxed)
        let (set, tag) = slot(of: node)
        let isTaken = entries[set].load(ordering: .relaxed) != 0
        let way = isTaken && entries[set + 1].load(ordering: .relaxed) == 0 ? 1 : 0
        entries[set + way].store(Entry.made(tag, start, length), ordering: .releasing)
        return true
    }

    @inline(__always) private func slot(of node: Node) -> (set: Int, tag: UInt64) {
        switch node {
        case .point(let point): (set(point.rawValue), Entry.tag(point.rawValue, isCluster: 0))
        case .cluster(let cluster): (set(cluster.rawValue), Entry.tag(cluster.rawValue, isCluster: 1))
        }
    }

    @inline(__always) private func set(_ number: UInt32) -> Int { (Int(number) & setMask) &* Self.ways }

    /// From the highest bits: a node's number without its lowest bits, which follow from its set; whether it is a
    /// cluster; the text's position and its length.
    enum Entry {
        private static let impliedBits = UInt32(5)
        private static let startBits = UInt64(24)
        private static let lengthBits = UInt64(12)
        static let longest = 1 << lengthBits - 1
        static let tagMask = ~UInt64(0) << (startBits + lengthBits)

        @inline(__always) static func tag(_ number: UInt32, isCluster: UInt64) -> UInt64 {
            (UInt64(number &>> impliedBits) &<< 1 | isCluster) &<< (startBits + lengthBits)
        }

        @inline(__always) static func made(_ tag: UInt64, _ start: Int, _ length: Int) -> UInt64 {
            tag | UInt64(truncatingIfNeeded: start) &<< lengthBits | UInt64(truncatingIfNeeded: length)
        }

        @inline(__always) static func range(_ entry: UInt64) -> Range<Int> {
            let start = Int(truncatingIfNeeded: entry &>> lengthBits) & (1 << startBits - 1)
            return start..<start + Int(truncatingIfNeeded: entry) & longest
        }
    }
}

extension CollectionWriter {
    /// Copies features that were printed before.
    @inline(__always) mutating func append(_ range: Range<Int>, of texts: PrintedTexts, to bytes: inout ByteWriter) {
        guard !range.isEmpty else { return }
        texts.write(isFirst ? range.dropFirst(texts.separators) : range, into: &bytes)
        isFirst = false
    }

    /// Copies features that were all printed before; writes nothing and returns false if one was not.
    ///
    /// All are looked up before the first is copied. The look-ups are scattered over memory, and this way the processor
    /// waits for all of them at the same time.
    mutating func append(_ nodes: [Node], of texts: PrintedTexts, to bytes: inout ByteWriter) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: nodes.count) { entries in
            for index in nodes.indices {
                let entry = texts.entry(of: nodes[index])
                guard entry != 0 else { return false }
                entries[index] = entry
            }
            var run = 0..<0
            for entry in entries {
                let text = PrintedTexts.Entry.range(entry)
                if text.lowerBound == run.upperBound {
                    run = run.lowerBound..<text.upperBound
                } else {
                    append(run, of: texts, to: &bytes)
                    run = text
                }
            }
            append(run, of: texts, to: &bytes)
            return true
        }
    }
}
