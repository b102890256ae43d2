// SPDX-License-Identifier: MIT
import SystemSupport
import Synchronization
import Testing

@testable import Clustering

@Suite("Memory for links between neighbours")
struct LinkPoolTests {
    @Test(
        "threads that take chunks at the same time get different links, which keep their values in all segments"
    )
    func chunks() {
        let pool = LinkPool(nodes: 1, most: 64 * LinkPool.chunk)
        let taken = Mutex<[Range<UInt32>]>([])
        Parallel(.shared, threads: 4).forEach(below: 64) { _ in
            guard let chunk = pool.takeChunk() else { return }
            for number in chunk { pool.links[number] = NeighbourLink(earlier: number &* 3, next: number) }
            taken.withLock { $0.append(chunk) }
        }
        let chunks = taken.withLock { $0 }
        #expect(Set(chunks.map(\.lowerBound)).count == 64)
        #expect(chunks.allSatisfy { $0.count == LinkPool.chunk })
        #expect(chunks.joined().allSatisfy { pool.links[$0].earlier == $0 &* 3 && pool.links[$0].next == $0 })
    }

    @Test("a pool gives no more links than it may, until all are free again") func limit() {
        let pool = LinkPool(nodes: 1, most: 3 * LinkPool.chunk)
        for _ in 0..<3 { #expect(pool.takeChunk() != nil) }
        #expect(pool.takeChunk() == nil)
        pool.removeAll()
        #expect(pool.takeChunk() == 0..<UInt32(LinkPool.chunk))
    }

    @Test("memory that the last level did not use is freed, and made again when it is needed") func release() {
        let pool = LinkPool(nodes: 1, most: 8 * LinkPool.chunk)
        func fill(_ count: Int) -> [UInt32] {
            pool.removeAll()
            let chunks = (0..<count).compactMap { _ in pool.takeChunk() }
            for number in chunks.joined() { pool.links[number] = NeighbourLink(earlier: number, next: 0) }
            return chunks.joined().map { pool.links[$0].earlier }
        }
        #expect(fill(8) == Array(0..<UInt32(8 * LinkPool.chunk)))
        #expect(pool.segmentCount == 8)
        _ = fill(2)
        pool.releaseUnneeded()
        #expect(pool.segmentCount == 2)
        #expect(fill(8) == Array(0..<UInt32(8 * LinkPool.chunk)))
        pool.removeAll()
        pool.releaseUnneeded()
        #expect(pool.segmentCount == 1)
    }
}
