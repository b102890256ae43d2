// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// Memory for a level's links, which threads take in small chunks: how many links a share of the nodes has is known
/// only afterwards, and lists that grow would be copied and would touch fresh memory again and again.
///
/// Invariant: a segment in use is never moved or freed while threads work. Each link is written by the thread that took
/// its chunk.
final class LinkPool: @unchecked Sendable {
    /// Blocks of links, by the upper bits of a link's number. Those that have not been allocated point to the first.
    let segments: Scratch<UnsafeMutablePointer<NeighbourLink>>
    /// The number of bits of a link's index in its segment.
    let segmentBits: UInt32
    private let blocks: Mutex<[Scratch<NeighbourLink>]>
    private let allocated: Atomic<Int>
    private let taken = Atomic(0)

    /// The number of links that a thread takes at a time.
    static let chunk = 1 << 10
    private static let mostSegmentBits = 20

    /// - Parameters:
    ///   - nodes: the most nodes of a level.
    ///   - most: the most links.
    init(nodes: Int, most: Int) {
        let bits = min(Self.mostSegmentBits, max(10, Int.bitWidth - nodes.leadingZeroBitCount))
        let count = min(max(1, most), (Int(NeighbourLink.none) >> bits) << bits)
        let first = Scratch<NeighbourLink>(atMost: 1 << bits)
        segments = Scratch(repeating: first.base, count: ((count - 1) >> bits) + 1)
        segmentBits = UInt32(bits)
        blocks = Mutex([first])
        allocated = Atomic(1)
    }

    /// The number of segments in memory, 1 or more.
    var segmentCount: Int { allocated.load(ordering: .acquiring) }

    /// Makes all links free.
    func removeAll() { taken.store(0, ordering: .relaxed) }

    /// The numbers of links that nobody else has; nil if there are no more.
    func takeChunk() -> Range<UInt32>? {
        let start = taken.add(Self.chunk, ordering: .relaxed).oldValue
        let segment = start >> Int(segmentBits)
        guard segment < segments.capacity else { return nil }
        if segment >= allocated.load(ordering: .acquiring) { allocate(upTo: segment) }
        return UInt32(truncatingIfNeeded: start)..<UInt32(truncatingIfNeeded: start + Self.chunk)
    }

    private func allocate(upTo segment: Int) {
        blocks.withLock { blocks in
            while blocks.count <= segment {
                let block = Scratch<NeighbourLink>(atMost: 1 << Int(segmentBits))
                segments.base[blocks.count] = block.base
                blocks.append(block)
            }
            allocated.store(blocks.count, ordering: .releasing)
        }
    }

    /// Frees memory that no link taken since `removeAll` lies in.
    func releaseUnneeded() {
        let used = max(1, ((taken.load(ordering: .relaxed) - 1) >> Int(segmentBits)) + 1)
        blocks.withLock { blocks in
            guard used < blocks.count else { return }
            for segment in used..<blocks.count { segments.base[segment] = segments.base[0] }
            blocks.removeLast(blocks.count - used)
            allocated.store(used, ordering: .releasing)
        }
    }

    /// Access to links for a thread, without a reference to the pool.
    var links: Links { Links(segments: segments.base, bits: segmentBits) }

    struct Links {
        fileprivate let segments: UnsafeMutablePointer<UnsafeMutablePointer<NeighbourLink>>
        fileprivate let bits: UInt32

        /// - Precondition: a chunk that contains the number has been taken.
        @inline(__always) subscript(number: UInt32) -> NeighbourLink {
            get { segments[Int(number &>> bits)][Int(number & ((1 &<< bits) &- 1))] }
            nonmutating set { segments[Int(number &>> bits)][Int(number & ((1 &<< bits) &- 1))] = newValue }
        }
    }
}

/// A node that comes before another in order and reaches it, and the number of the other's next link.
struct NeighbourLink: BitwiseCopyable {
    var earlier: UInt32
    var next: UInt32

    /// The number after the last link of a chain.
    static let none = UInt32.max
}

/// Access to values that several threads read and write concurrently.
extension Scratch where Element: AtomicRepresentable {
    /// The value at an index as an atomic: both have the same layout.
    @inline(__always) func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<Element>> {
        UnsafeMutableRawPointer(base + index).assumingMemoryBound(to: Atomic<Element>.self)
    }
}
