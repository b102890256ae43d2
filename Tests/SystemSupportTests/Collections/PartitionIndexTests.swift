// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("Partition indexes")
struct PartitionIndexTests {
    @Test("are where a linear search finds them, for all short runs")
    func allShort() {
        for count in 0...20 {
            for boundary in 0...count {
                let values = (0..<count).map { $0 < boundary }
                #expect(values.partitionIndex { $0 } == boundary)
                #expect(values[(count / 2)...].partitionIndex { $0 } == max(boundary, count / 2))
                #expect((5..<5 + count).partitionIndex { $0 < 5 + boundary } == 5 + boundary)
            }
        }
    }

    @Test("pass on what the comparison throws") func failure() {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try (0..<9).partitionIndex { (_) throws(Failure) in throw Failure() }
        }
        #expect((0..<0).partitionIndex { _ in true } == 0)
    }
}
