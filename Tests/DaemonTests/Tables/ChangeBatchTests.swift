// SPDX-License-Identifier: MIT
import GeoJSON
import JSON
import ReplicationLog
import SourceTestSupport
import SystemSupport
import Testing

@testable import Daemon
@testable import PostgresFeed
@testable import SourceEngine

/// Changes of rows, gathered to what became of each.
@Suite("Change batch") struct ChangeBatchTests {
    private let test: TestSource

    init() throws {
        test = try TestSource(options: #"{"sortKey":["id"]}"#)
        let copy = FeatureImport(into: test.source, mode: .replace, policy: .skip, allowsEmpty: true)
        try copy.add(list(point(1, 1, 1, #"{"a":"stored","b":1}"#), point(2, 2, 2), point(3, 3, 3)))
        let mark = LogMark(position: LogPosition(rawValue: 1).description)
        _ = try copy.finish(.never, following: FollowedLog(origin: .table("t"), mark: mark))
    }

    private func put(_ id: Int, _ x: Double, _ properties: String = "{}", previous: Int? = nil) -> TableChange {
        .put(
            FeatureRow(
                id: Array("\(id)".utf8), previousID: previous.map { Array("\($0)".utf8) },
                template: Array(point(id, x, x, properties).utf8), gaps: []))
    }

    /// A row whose property `a` was not sent again.
    private func kept(_ id: Int, _ x: Double, previous: Int? = nil) -> TableChange {
        let text = Array(point(id, x, x, #"{"a":,"b":2}"#).utf8)
        let gap = text.count - #","b":2}}"#.utf8.count
        return .put(
            FeatureRow(
                id: Array("\(id)".utf8), previousID: previous.map { Array("\($0)".utf8) }, template: text,
                gaps: [FeatureGap(offset: gap, name: Array("a".utf8))]))
    }

    private func remove(_ id: Int) -> TableChange { .remove(id: Array("\(id)".utf8)) }

    private func apply(_ changes: TableChange...) throws {
        var batch = ChangeBatch()
        let mark = LogMark(position: LogPosition(rawValue: 2).description)
        _ = try test.source.follow(to: mark, .never) { (step) throws(SourceError) in
            for change in changes { try batch.add(change, to: &step) }
            try batch.flush(into: &step)
        }
    }

    /// Ids and longitudes.
    private func shown() throws -> [String] {
        try test.world(20).features.map { feature in
            let position = (feature["geometry"] as? [String: Any])?["coordinates"] as? [Double] ?? []
            return "\(feature["id"] ?? "none") at \(Int(position.first ?? 999))"
        }.sorted()
    }

    @Test("of several changes of a row, the last one counts")
    func last() throws {
        try apply(
            put(1, 5), put(1, 6), remove(2), put(2, 7), put(3, 8), remove(3), remove(9), put(4, 9), put(4, 10)
        )
        #expect(try shown() == ["1 at 6", "2 at 7", "4 at 10"])
    }

    @Test("a changed key moves the row, also to and from a key of the same transaction") func keys() throws {
        try apply(put(10, 5, previous: 1), put(1, 6, previous: 2), put(2, 7, previous: 10))
        #expect(try shown() == ["1 at 6", "2 at 7", "3 at 3"])
    }

    @Test("changes before a TRUNCATE do not count") func clears() throws {
        try apply(put(5, 5), .clear, put(6, 6), put(1, 7), remove(1))
        #expect(try shown() == ["6 at 6"])
        try apply(put(7, 7), .clear)
        #expect(try shown().isEmpty)
    }

    @Test("unchanged values that were not sent come from the previous row, with the changes so far")
    func unchangedValues() throws {
        try apply(kept(1, 5))
        #expect(
            try test.world(20).features.contains { ($0["properties"] as? [String: Any])?["a"] as? String == "stored" })
        try apply(put(2, 4, #"{"a":"new","b":1}"#), kept(2, 5), kept(20, 6, previous: 2))
        let moved = try #require(try test.world(20).features.first { $0["id"] as? Int == 20 })
        #expect((moved["properties"] as? [String: Any])?["a"] as? String == "new")
        #expect((moved["properties"] as? [String: Any])?["b"] as? Int == 2)
    }

    @Test("a missing value is an error that names the row, and nothing changes") func missingValues() throws {
        let before = test.source.revision.number
        for changes in [[kept(2, 5)], [kept(77, 5)], [.clear, kept(1, 5)], [remove(1), kept(1, 5)]] {
            var batch = ChangeBatch()
            let mark = LogMark(position: LogPosition(rawValue: 9).description)
            #expect(throws: SourceError.self) {
                try test.source.follow(to: mark, .never) { (step) throws(SourceError) in
                    for change in changes { try batch.add(change, to: &step) }
                }
            }
            #expect(batch.incompleteRow != nil)
        }
        #expect(test.source.revision.number == before)
        #expect(test.source.revision.position == "0/1")
    }
}
