// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import JSON
import SourceStorage
import SystemSupport
import Testing

@testable import Aggregates

@Suite("Written values of aggregates")
struct WrittenColumnTests {
    /// Reads a column whose parts have these values.
    private func column(_ starts: [UInt32], _ text: String, clusters: Int) throws -> WrittenColumn {
        let path = NSTemporaryDirectory() + "clusterd-written-" + UUID().uuidString.prefix(12)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let writer = try SectionFileWriter(path)
        try writer.add(1, starts)
        try writer.add(2, Array(text.utf8))
        try writer.finish(generation: 1)
        let reader = try SectionFileReader(FileImage(path), path: path)
        for section in [1, 2] as [UInt32] { try reader.verify(section: section) }
        return try WrittenColumn(from: StoredAggregate(reader, clusters: clusters, points: 0) { $0 + 1 })
    }

    @Test("each cluster's text is copied unchanged")
    func texts() throws {
        let column = try column([0, 2, 2, 7], "17[1,2]", clusters: 3)
        let index = try [].withUnsafeBufferPointer {
            try ClusterIndex.build(
                ProjectedPoints(longitudes: $0, latitudes: $0, options: ClusteringOptions()))
        }
        var bytes = ByteWriter()
        for ordinal in 0..<UInt32(3) {
            column.write(ClusterOrdinal(rawValue: ordinal), of: index, into: &bytes)
            bytes.append(contentsOf: Array(";".utf8))
        }
        #expect(bytes.string == "17;;[1,2];")
    }

    @Test("values beyond the limit are not stored", arguments: [5, 6, 7])
    func limited(_ limit: Int) throws {
        let column = try column([0, 2, 2, 7], "17[1,2]", clusters: 3)
        let index = try [].withUnsafeBufferPointer {
            try ClusterIndex.build(
                ProjectedPoints(longitudes: $0, latitudes: $0, options: ClusteringOptions()))
        }
        let clusters = [2, 1, 0].map { ClusterOrdinal(rawValue: $0) }
        let written = WrittenColumn(column, of: clusters, in: index, mostBytes: limit)
        #expect((written == nil) == (limit < 7))
        var bytes = ByteWriter()
        written?.write(ClusterOrdinal(rawValue: 0), of: index, into: &bytes)
        #expect(bytes.string == (limit < 7 ? "" : "[1,2]"))
    }

    @Test(
        "offsets that are out of bounds, out of order or too few are rejected",
        arguments: [[0, 2, 9], [0, 3, 2], [1, 2, 4], [0, 4], [0, 2, 3, 4]] as [[UInt32]])
    func refused(_ starts: [UInt32]) {
        #expect(throws: StateFault.self) { try column(starts, "true", clusters: 2) }
    }
}
