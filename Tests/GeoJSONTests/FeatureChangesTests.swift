// SPDX-License-Identifier: MIT
import Testing

@testable import GeoJSON

@Suite("Features replaced, taken away and added") struct FeatureChangesTests {
    private func numbered(_ numbers: Range<Int>) throws -> FeatureStore {
        try store("[" + numbers.map { feature("\($0)") }.joined(separator: ",") + "]")
    }

    @Test("replaced features are released eventually, and the others stay unchanged") func sparse() throws {
        var changed = try numbered(0..<10)
        changed = changed.changing(
            [FeatureReplacement(row: 7, newRow: nil), FeatureReplacement(row: 8, newRow: 0)], adding: [1],
            from: try numbered(100..<102))
        var most = 0
        for round in 0..<5000 {
            changed = changed.changing(
                [FeatureReplacement(row: 3, newRow: 0), FeatureReplacement(row: 4, newRow: 1)], adding: [],
                from: try numbered(1000 + 2 * round..<1002 + 2 * round))
            most = max(most, changed.changes?.stores.count ?? 0)
        }
        #expect(most < 1024)
        #expect(changed.count == 11)
        #expect(changed.livingRows == [0, 1, 2, 3, 4, 5, 6, 8, 9, 10])
        #expect(changed.changeCount == 5)
        let expected = [0, 1, 2, 10998, 10999, 5, 6, 100, 9, 101].map { feature("\($0)") }
        let plain = changed.plain()
        #expect((0..<plain.count).map { plain.text($0) } == expected)
        #expect(changed.livingRows?.map { changed.text(Int($0)) } == expected)
    }

    @Test("rows are runs of plain stores, for few rows and for all") func slices() throws {
        let base = try numbered(0..<2000)
        let replaced = (0..<100).map { FeatureReplacement(row: 20 * $0, newRow: $0 % 3 == 0 ? nil : $0) }
        let changed = base.changing(replaced, adding: [], from: try numbered(5000..<5100))
        func texts(_ rows: Range<Int>) -> [String] {
            changed.plainSlices(rows).flatMap { slice in slice.rows.map { slice.store.text($0) } }
        }
        let all = texts(0..<2000)
        #expect(all.count == 2000 - 34)
        #expect(all == (0..<2000).flatMap { texts($0..<$0 + 1) })
        #expect(all == stride(from: 0, to: 2000, by: 50).flatMap { texts($0..<$0 + 50) })
        #expect(texts(20..<22) == [feature("5001"), feature("21")])
    }

    @Test(
        "what was changed since a snapshot becomes a delta beside it, also if all changes were gathered meanwhile",
        arguments: [0, 3, 2000])
    func folded(_ rounds: Int) throws {
        let earlier = try numbered(0..<10).changing(
            [FeatureReplacement(row: 1, newRow: 0), FeatureReplacement(row: 2, newRow: 1)], adding: [2],
            from: try numbered(100..<103))
        let snapshot = earlier.plain()
        var newest = earlier
        for round in 0..<rounds {
            newest = newest.changing(
                [FeatureReplacement(row: 1, newRow: 0), FeatureReplacement(row: 3, newRow: 1)], adding: [],
                from: try numbered(1000 + 2 * round..<1002 + 2 * round))
        }
        if rounds > 0 {
            newest = newest.changing(
                [FeatureReplacement(row: 4, newRow: nil)], adding: [0], from: try numbered(500..<501))
        }
        let folded = newest.folded(onto: snapshot, since: earlier)
        #expect(folded.plainBase === snapshot)
        #expect(folded.count == newest.count)
        #expect(folded.removedCount == newest.removedCount)
        let rows = newest.livingRows ?? (0..<UInt32(newest.count)).map { $0 }
        #expect(folded.livingRows ?? rows == rows)
        for row in rows { #expect(folded.text(Int(row)) == newest.text(Int(row)), "row \(row)") }
        if rounds == 3 { #expect(folded.changedRows == [1, 3, 4, 11], "the others are in the snapshot") }
        // It goes on from there.
        let next = folded.changing([FeatureReplacement(row: 5, newRow: 0)], adding: [], from: try numbered(900..<901))
        #expect(next.text(5) == feature("900"))
        #expect(next.text(1) == newest.text(1))
    }
}
