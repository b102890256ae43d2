// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@testable import ShardedBuild

@Suite("Merges of sorted files") struct SortedMergeTests {
    @Test(
        "more files than may be open are merged in passes, and leave none behind", arguments: [1, 2, 7, 8, 30],
        [2, 3, 7])
    func passes(_ count: Int, _ most: Int) throws {
        let folder = try BuildFolder()
        var expected: [UInt64] = []
        let paths = try (0..<count).map { number in
            // Some files are empty, and their values lie among each other.
            let values = (0..<UInt64(number % 4 * 10)).map { ($0 * 7919 + UInt64(number) * 104_729) % 5000 * 1000 }
            let writer = try ValueWriter<UInt64>("\(folder.path)/file-\(number)")
            for value in values.sorted() { try writer.append(value) }
            try writer.finish()
            expected += values.map { $0 + UInt64(number) }
            return writer.path
        }
        let names = try FileIO.names(in: folder.path).sorted()
        var merge = try SortedMerge<UInt64>(
            paths, memory: 1 << 16, most: most, adjust: { $0 += UInt64($1) }, by: <)
        var found: [UInt64] = []
        while let head = merge.head {
            let next = try merge.next()
            #expect(next == head)
            found.append(head)
        }
        #expect(try merge.next() == nil)
        #expect(found == expected.sorted())
        #expect(try FileIO.names(in: folder.path).sorted() == names)
    }
}
