// SPDX-License-Identifier: MIT
import Foundation
import GeoJSON
import JSON
import ReplicationLog
import SourceTestSupport
import Synchronization
import SystemSupport
import Testing

@testable import Responses
@testable import SourceEngine

/// Sources whose data follow the log of a database.
@Suite("Following") struct FollowingTests {
    static let options = #"{"radius":60,"sortKey":["id"],"clusterIds":"origin"}"#

    private let kept: KeptSources

    init() throws {
        kept = try KeptSources()
        try kept.create(options: Self.options)
    }

    private func mark(_ position: UInt64) -> LogMark {
        LogMark(position: LogPosition(rawValue: position).description, text: "mark \(position)")
    }

    private func copy(_ features: String, at position: UInt64, keeps: Bool = true) throws {
        let load = FeatureImport(into: try kept.source(), mode: .replace, policy: .skip, allowsEmpty: true)
        try load.add(features)
        _ = try load.finish(.never, following: FollowedLog(origin: .table("table"), mark: mark(position)))
        if keeps { try kept.source().keepMark() }
    }

    private func follow(
        to position: UInt64, clears: Bool = false, _ upserts: String = "[]", remove: [FeatureIdentifier] = []
    ) throws {
        _ = try kept.source().follow(to: mark(position), .never) { (step) throws(SourceError) in
            try step.add(LogChanges(clears: clears, upserts: Array(upserts.utf8), removals: remove))
        }
    }

    @Test("after a damaged change, changes that the log yields again are not replayed") func damagedRecord() throws {
        try copy(towns(10), at: 10)
        for number in UInt64(1)...5 { try follow(to: 10 + number, towns(1, from: 1000 + Int(number))) }
        try kept.restart {
            let journals = try kept.files().filter { $0.hasSuffix(".journal") }
            let path = kept.file(try #require(journals.last))
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            data[128 + (data.count - 128) / 2] ^= 1
            try data.write(to: URL(fileURLWithPath: path))
        }
        #expect(try log()?.mark == mark(12))
        #expect(try kept.source().revision.pointCount == 12)
        #expect(try kept.source().description.note != nil)
    }

    private func log() throws -> FollowedLog? { try kept.source().revision.logs.table }

    /// Advances the position without changes, unless it was later.
    private func reach(_ position: UInt64) throws {
        try kept.source().follow(upTo: mark(position)) { known in
            LogPosition(known.position).map { $0.rawValue < position } ?? false
        }
    }

    private func ids(_ numbers: Int...) -> [FeatureIdentifier] {
        numbers.compactMap { FeatureIdentifier(.number(Double($0))) }
    }

    @Test("the position is kept with each change, whatever the change") func positions() throws {
        try copy(towns(50), at: 10)
        #expect(try log()?.mark == mark(10))
        try kept.restart()
        #expect(try log() == FollowedLog(origin: .table("table"), mark: mark(10)))

        try follow(to: 20, list(point(900, 1, 2)), remove: ids(1, 2, 7777))
        #expect(try kept.source().revision.pointCount == 49)
        let seen = kept.seen()
        try kept.restart()
        #expect(try log()?.mark == mark(20))
        #expect(kept.seen() == seen)

        try follow(to: 30, clears: true, list(point(1, 5, 5), point(2, 6, 6)))
        #expect(try kept.source().revision.pointCount == 2)
        try kept.restart()
        #expect(try log()?.mark == mark(30))
        #expect(try kept.source().revision.pointCount == 2)

        try follow(to: 40, clears: true)
        #expect(try kept.source().revision.pointCount == 0)
        try kept.restart()
        #expect(try log()?.mark == mark(40))
        #expect(try kept.source().revision.pointCount == 0)
    }

    @Test("a position without changes makes no revision, and is kept once that is asked for") func progress() throws {
        try copy(towns(10), at: 10)
        let number = try kept.source().revision.number
        try reach(15)
        try reach(12)
        #expect(try log()?.mark == mark(15))
        #expect(try kept.source().revision.number == number)
        try kept.restart()
        #expect(try log()?.mark == mark(10))
        try reach(16)
        try kept.source().keepMark()
        try kept.restart()
        #expect(try log()?.mark == mark(16))
    }

    @Test("a copy answers before it is stored; a kill before that leaves the previous data")
    func unkeptCopy() throws {
        try copy(towns(50), at: 10)
        let before = kept.seen()
        try copy(towns(30), at: 20, keeps: false)
        #expect(try log()?.mark == mark(20))
        #expect(try kept.source().revision.pointCount == 30)
        try kept.restart()
        #expect(try log()?.mark == mark(10))
        #expect(kept.seen() == before)

        try copy(towns(30), at: 20, keeps: false)
        let copied = kept.seen()
        try kept.source().keepMark()
        try kept.restart()
        #expect(try log()?.mark == mark(20))
        #expect(kept.seen() == copied)
    }

    @Test("the first copy is stored before it answers, so that a kill does not leave an empty source")
    func firstCopy() throws {
        try copy(towns(50), at: 10, keeps: false)
        let copied = kept.seen()
        try kept.restart()
        #expect(try log()?.mark == mark(10))
        #expect(kept.seen() == copied)
    }

    @Test("a first copy that cannot be stored answers all the same") func firstCopyWithoutRoom() throws {
        // Directories where the snapshot would be written.
        let files = try #require(try kept.source().files)
        let blocked = (1...9).map { files.temporary($0) }
        for path in blocked { mkdir(path, 0o700) }
        try copy(towns(50), at: 10, keeps: false)
        #expect(try kept.source().revision.pointCount == 50)
        for path in blocked { rmdir(path) }
        try kept.source().keepMark()
        try kept.restart()
        #expect(try log()?.mark == mark(10))
    }

    @Test("a change of a copy that is not kept keeps both") func changeOfUnkeptCopy() throws {
        try copy(towns(50), at: 10)
        try copy(towns(30), at: 20, keeps: false)
        try follow(to: 21, list(point(900, 1, 2)), remove: ids(1))
        let changed = kept.seen()
        try kept.restart()
        #expect(try log()?.mark == mark(21))
        #expect(try kept.source().revision.pointCount == 30)
        #expect(kept.seen() == changed)
        try follow(to: 22, remove: ids(2))
        try kept.restart()
        #expect(try log()?.mark == mark(22))
        #expect(try kept.source().revision.pointCount == 29)
    }

    @Test("a copy that cannot be kept answers, and is kept once that is possible") func copyWithoutRoom() throws {
        try copy(towns(50), at: 10)
        try copy(towns(30), at: 20, keeps: false)
        // Directories where the snapshot would be written.
        let files = try #require(try kept.source().files)
        let blocked = (1...9).map { files.temporary($0) }
        for path in blocked { mkdir(path, 0o700) }
        #expect(throws: SourceError.self) { try kept.source().keepMark() }
        for path in blocked { rmdir(path) }
        #expect(try kept.source().revision.pointCount == 30)
        try kept.source().keepMark()
        try kept.restart()
        #expect(try log()?.mark == mark(20))
        #expect(try kept.source().revision.pointCount == 30)
    }

    @Test("answers and descriptions have the position beside the revision") func answers() throws {
        try copy(towns(10), at: 0x1_0000_00ff)
        #expect(kept.seen().contains(",\"position\":\"1/FF\"}"))
        var bytes = ByteWriter()
        try kept.source().description.write(into: &bytes)
        #expect(bytes.string.contains(",\"position\":\"1/FF\",\"bbox\""))
        try kept.source().load(towns(3))
        #expect(!kept.seen().contains("position"))
    }

    @Test("new options and compaction keep the position, another change does not") func otherChanges() throws {
        try copy(towns(200), at: 10)
        try follow(to: 11, towns(5, from: 1000))
        try kept.source().compact()
        #expect(try kept.source().revision.isPlain)
        #expect(try log()?.mark == mark(11))
        let options = try SourceOptions(reading: JSONReader.parse(#"{"radius":30}"#))
        _ = try kept.source().update(options: options, .never)
        #expect(try log()?.mark == mark(11))
        try kept.restart()
        #expect(try log()?.mark == mark(11))
        try kept.source().change(remove: [3])
        #expect(try log() == nil)
        try kept.restart()
        #expect(try log() == nil)
        #expect(throws: SourceError.self) { try follow(to: 12) }
    }

    @Test("several parts become visible together, and are kept by a snapshot") func parts() throws {
        try copy(towns(100), at: 10)
        let source = try kept.source()
        let before = source.revision.number
        let seen = Mutex<[UInt64]>([])
        let observation = source.observe { seen.withLock { $0.append(source.revision.number) } }
        _ = try source.follow(to: mark(20), .never) { (step) throws(SourceError) in
            for part in 0..<3 {
                let features = Array(towns(50, from: 100 + part * 50).utf8)
                try step.add(LogChanges(upserts: features, removals: ids(part)))
            }
        }
        withExtendedLifetime(observation) {}
        let numbers = seen.withLock { $0 }
        #expect(numbers.count == 1)
        #expect(numbers.allSatisfy { $0 > before })
        #expect(source.revision.pointCount == 247)
        let answers = kept.seen()
        try kept.restart()
        #expect(kept.seen() == answers)
        #expect(try log()?.mark == mark(20))
    }

    @Test("many changes, or changes beside many, are built as a whole, and the answers are the same")
    func builtAsWhole() throws {
        func moved(_ ids: Range<Int>, by step: Int) -> String {
            let points = ids.map { point($0, Double($0 % 90) + Double(step) / 100, Double($0 % 61)) }
            return "[" + points.joined(separator: ",") + "]"
        }
        try copy(moved(0..<20_000, by: 0), at: 10)
        try follow(to: 11, moved(0..<10, by: 1))
        #expect(try !kept.source().revision.isPlain)
        try follow(to: 12, moved(0..<1100, by: 2))
        #expect(try kept.source().revision.isPlain)

        // Each is followed, until so much lies beside what was built that the next is built: no compaction ends before.
        let isOver = DispatchSemaphore(value: 0)
        try kept.source().jobs.run(.compact) { isOver.wait() }
        defer { isOver.signal() }
        var (step, largest) = (3, 0)
        while step < 200 {
            try follow(to: UInt64(10 + step), moved(0..<800, by: step))
            let revision = try kept.source().revision
            if revision.isPlain { break }
            largest = max(largest, revision.growth)
            step += 1
        }
        #expect(step > 4)
        isOver.signal()
        #expect(step < 200)
        #expect(largest > 65_000)
        #expect(largest < 200_000)

        let fresh = try FollowingTests()
        let parts = [moved(0..<800, by: step), moved(800..<1100, by: 2), moved(1100..<20_000, by: 0)]
        let features = parts.map { $0.dropFirst().dropLast() }.joined(separator: ",")
        try fresh.copy("[\(features)]", at: UInt64(10 + step))
        #expect(kept.seen() == fresh.kept.seen())
        let answers = kept.seen()
        try kept.restart()
        #expect(kept.seen() == answers)
    }

    @Test("features with an invalid weight or outside the filter are removed") func screening() throws {
        try kept.create("weighed", options: #"{"weight":["get","n"],"filter":["!=",["get","n"],5]}"#)
        let source = try kept.source("weighed")
        let load = FeatureImport(into: source, mode: .replace, policy: .skip, allowsEmpty: true)
        try load.add(
            list(point(1, 0, 0, #"{"n":1}"#), point(2, 5, 5, #"{"n":0}"#), point(3, 9, 9, #"{"n":2}"#)))
        let outcome = try load.finish(.never, following: FollowedLog(origin: .table("t"), mark: mark(1)))
        #expect(outcome.skippedReasons == ["badWeight": 1])
        let skipped = try source.follow(to: mark(2), .never) { (step) throws(SourceError) in
            let features = list(
                point(1, 0, 0, #"{"n":-1}"#), point(3, 9, 9, #"{"n":5}"#), point(2, 5, 5, #"{"n":7}"#))
            try step.add(LogChanges(upserts: Array(features.utf8), removals: []))
        }
        #expect(skipped == ["badWeight": 1])
        #expect(source.revision.pointCount == 1)
    }

    @Test("an unreadable row is left out alone, and is a feature again once it can be read") func unreadable() throws {
        try copy(list(point(1, 0, 0), point(2, 5, 5)), at: 1)
        let deep = String(repeating: "[", count: 80) + String(repeating: "]", count: 80)
        let source = try kept.source()
        let skipped = try source.follow(to: mark(2), .never) { (step) throws(SourceError) in
            let features = list(point(1, 1, 1, "{\"a\":\(deep)}"), point(3, 9, 9), point(4, 200, 9))
            try step.add(LogChanges(upserts: Array(features.utf8), removals: []))
        }
        #expect(skipped == ["badFeature": 2])
        #expect(source.revision.pointCount == 2)
        try kept.restart()
        #expect(try kept.source().revision.pointCount == 2)
        #expect(try log()?.mark == mark(2))
        try follow(to: 3, list(point(1, 1, 1), point(4, 20, 9)))
        #expect(try kept.source().revision.pointCount == 4)
    }

    @Test("properties that an update keeps are found among the parts before it") func properties() throws {
        try copy(list(point(1, 0, 0, #"{"a":1}"#)), at: 1)
        var found: [String?] = []
        _ = try kept.source().follow(to: mark(2), .never) { (step) throws(SourceError) in
            for id in ids(1, 2) { found.append(try Self.properties(of: id, step)) }
            try step.add(LogChanges(upserts: Array(list(point(2, 1, 1, #"{"b":2}"#)).utf8), removals: ids(1)))
            for id in ids(1, 2) { found.append(try Self.properties(of: id, step)) }
        }
        #expect(found == [#"{"a":1}"#, nil, nil, #"{"b":2}"#])
    }

    private static func properties(of id: FeatureIdentifier, _ step: LogStep) throws(SourceError) -> String? {
        try step.properties(of: id).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("only its feed changes a source that follows a table") func readOnly() throws {
        let source = try kept.source()
        try source.checkWritable(.features)
        source.replication = ReplicationStatus(table: "the table public.vehicles", state: .following)
        #expect(throws: SourceError.followsTable(source.name, "the table public.vehicles", .features)) {
            try source.checkWritable(.features)
        }
        var status = ReplicationStatus(table: "the table public.vehicles", state: .waiting)
        (status.lagBytes, status.lagMilliseconds, status.note) = (12, 3.4, "the server is away")
        source.replication = status
        try copy(towns(3), at: 0x16b_3748)
        var bytes = ByteWriter()
        source.description.write(into: &bytes)
        let text = bytes.string
        #expect(
            text.contains(
                #""replication":{"position":"0/16B3748","lagBytes":12,"lagMs":3,"state":"waiting","table":"the table public.vehicles"}"#
            ))
        #expect(text.contains(#""note":"the server is away""#))
        #expect(source.description.state == .ready)
        status.isStale = true
        source.replication = status
        #expect(source.description.state == .stale)
    }
}
