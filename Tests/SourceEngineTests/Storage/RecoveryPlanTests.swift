// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import Testing

@testable import ImageStore
@testable import SourceEngine
@testable import SystemSupport

@Suite("Recovery plans") struct RecoveryPlanTests {
    /// Two imports and an update, with all files written.
    private func prepared() throws -> KeptSources {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load(towns(12))
        try source.load(towns(20, from: 5))
        try source.change(remove: [8])
        kept.wait()
        return kept
    }

    private func plan(_ kept: KeptSources) throws -> RecoveryPlan {
        try RecoveredSource.read("\(kept.path)/sources/test", shared: kept.registry.shared, checking: true).plan
    }

    private func write(_ data: Data, _ path: String) throws { try data.write(to: URL(fileURLWithPath: path)) }

    @Test("intact files need nothing") func good() throws {
        let kept = try prepared()
        let plan = try plan(kept)
        #expect(plan.generation == 3)
        #expect(plan.previous == 2)
        #expect(plan.journals == [3])
        #expect(plan.steps.isEmpty)
        #expect(plan.isComplete)
        #expect(plan.notes.isEmpty)
    }

    @Test(
        "a damaged index by id is made again, reported, and written again",
        arguments: [SnapshotSection.identifiers, SnapshotSection.identifierKey], [0, 1 << 22])
    func damagedIdentifiers(section: UInt32, imageInMemory: Int) throws {
        let kept = try KeptSources(isQuick: true, imageInMemory: imageInMemory)
        let source = try kept.create()
        try source.load(towns(5000))
        kept.wait()
        let answer = kept.said()
        let path = kept.file("2.snapshot")
        let range = try #require(try OpenedSections(path).sections[section])
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        data[range.upperBound - 1] ^= 1
        try kept.restart { try write(data, path) }
        #expect(kept.said() == answer)
        kept.wait()
        #expect(try kept.source().description.damage == nil)
        #expect(kept.reports.filter { $0.message.contains("index by id, which is made again") }.count == 1)
        try kept.source().change(upsert: towns(1, from: 9), remove: [10])
        let changed = kept.said()
        try kept.restart()
        #expect(kept.said() == changed)
        #expect(try plan(kept).notes == [])
        #expect(try plan(kept).generation == 3)
    }

    @Test("the index by id of features without ids is made again too, if clusters' ids are made of features")
    func damagedKeyWithoutIdentifiers() throws {
        let kept = try KeptSources(isQuick: true)
        let features = (0..<50).map {
            #"{"type":"Feature","geometry":{"type":"Point","coordinates":[\#($0),1]},"properties":null}"#
        }
        try kept.create(options: #"{"clusterIds":"origin"}"#).load("[\(features.joined(separator: ","))]")
        kept.wait()
        let answer = kept.said()
        let path = kept.file("2.snapshot")
        let range = try #require(try OpenedSections(path).sections[SnapshotSection.identifierKey])
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        data[range.lowerBound] ^= 1
        try kept.restart { try write(data, path) }
        #expect(kept.said() == answer)
        #expect(kept.reports.filter { $0.message.contains("index by id, which is made again") }.count == 1)
    }

    @Test("a plan changes nothing; carried out it keeps the damaged file")
    func damaged() throws {
        let kept = try prepared()
        let path = kept.file("3.snapshot")
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        data[(1 << 14) + 100] ^= 1
        try write(data, path)
        try write(Data(count: 10), kept.file("new-4"))
        let files = try kept.files()
        let plan = try plan(kept)
        #expect(plan.generation == 2)
        #expect(!plan.isComplete)
        #expect(plan.isPatched)
        #expect(plan.steps == [.remove("new-4"), .setAside("3.journal"), .setAside("3.snapshot")])
        #expect(try kept.files() == files)
        try kept.restart()
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept.path + "/damaged/test/3.snapshot")) == data)
        #expect(FileManager.default.fileExists(atPath: kept.path + "/damaged/test/3.journal"))
        #expect(try kept.source().description.note?.contains("older data are served") == true)
        // A later start sets nothing aside again.
        try kept.restart()
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept.path + "/damaged/test").count == 2)
    }

    @Test("a damaged snapshot costs nothing if journals have its changes, and another is written at once")
    func patched() throws {
        let kept = try prepared()
        try kept.source().change(upsert: towns(1, from: 1000))
        try kept.source().saveLater()
        kept.wait()
        try kept.source().change(remove: [9])
        let said = kept.said()
        try kept.restart {
            let path = kept.file("4.snapshot")
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            data[(1 << 14) + 100] ^= 1
            try write(data, path)
        }
        #expect(kept.said() == said)
        #expect(try kept.source().description.note == nil)
        #expect(FileManager.default.fileExists(atPath: kept.path + "/damaged/test/4.snapshot"))
        // Until then all depends on the only good snapshot.
        #expect(try kept.files().contains("5.snapshot"))
        try kept.restart()
        #expect(kept.said() == said)
        #expect(kept.reports.isEmpty)
    }

    @Test("older data say that they are older until a command replaces them") func olderDataSaySo() throws {
        let kept = try prepared()
        func note() throws -> String? { try kept.source().description.note }
        try kept.restart {
            let path = kept.file("3.snapshot")
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            data[(1 << 14) + 100] ^= 1
            try write(data, path)
        }
        let first = try #require(try note())
        #expect(first.contains("older data are served"))
        try kept.restart()
        #expect(try note() == first)
        #expect(kept.reports.contains { $0.message == first })
        try kept.source().change(remove: [9])
        try kept.source().saveLater()
        try kept.restart()
        #expect(try note() == first)
        try kept.source().load(towns(3, from: 900), mode: .append)
        #expect(try note() == first)
        try kept.source().load(towns(4))
        #expect(try note() == nil)
        try kept.restart()
        #expect(try note() == nil)
        #expect(try kept.source().revision.pointCount == 4)
    }

    @Test("a generation whose call was never answered does not count") func uncommitted() throws {
        let kept = try prepared()
        let said = kept.said()
        try kept.restart {
            // What an import leaves whose journal could not be begun, and whose files could not be removed.
            try FileManager.default.copyItem(atPath: kept.file("2.snapshot"), toPath: kept.file("4.snapshot"))
            _ = try JournalWriter(
                creating: kept.file("4.journal"), beside: kept.file("new-4.journal"), generation: 4, revision: 99,
                previous: nil, hasBegun: false)
            #expect(try plan(kept).steps == [.remove("4.snapshot"), .remove("4.journal")])
        }
        #expect(kept.said() == said)
        #expect(kept.reports.isEmpty)
        #expect(try kept.files() == ["2.journal", "2.snapshot", "3.journal", "3.snapshot"])
        try kept.source().change(remove: [9])
        let changed = kept.said()
        try kept.source().saveLater()
        try kept.restart()
        #expect(kept.said() == changed)
    }

    @Test("a source whose creation was never answered does not exist") func neverCreated() throws {
        let kept = try KeptSources(isQuick: true)
        try kept.create()
        try kept.restart {
            let journal = try JournalWriter(continuing: JournalReader<JournalRecord.Entry>(kept.file("1.journal")))
            try journal.unbegin()
        }
        #expect(throws: SourceError.self) { try kept.source() }
        try kept.create()
    }

    @Test("files that the machine cannot read make the source unavailable, stay unchanged, and are retried")
    func machineFault() throws {
        let kept = try prepared()
        let said = kept.said()
        let files = try kept.files()
        let fault = StateFault(FileError.failed(action: "open", path: "x", code: EMFILE))
        #expect(fault.kind == .machine)
        #expect(StateFault(FileError.failed(action: "open", path: "x", code: ENOENT)).kind == .damage)
        _ = try kept.source().fail(fault)
        #expect(try kept.source().description.state == .unavailable)
        #expect(kept.seen().contains("unavailable"))
        #expect(throws: SourceError.self) { try kept.source().change(remove: [9]) }
        let faulty = try kept.source()
        kept.registry.expireInBackground()
        faulty.jobs.wait()
        #expect(kept.said() == said)
        #expect(try kept.files() == files)
        #expect(try kept.source().description.state == .ready)
    }

    @Test("records behind a damaged mark are kept") func damagedMark() throws {
        let kept = try prepared()
        let said = kept.said()
        try kept.restart {
            let path = kept.file("3.journal")
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            data[66] ^= 1
            try write(data, path)
        }
        #expect(kept.said() == said)
        #expect(kept.reports.map(\.message).joined().contains("mark"))
    }

    /// Starts on a journal of fifty records with other bytes.
    private func fifty(_ kept: KeptSources, _ harm: (inout Data) -> Void) throws {
        let source = try kept.create()
        try source.load(towns(100))
        for number in 0..<50 { try source.change(upsert: towns(1, from: 1000 + number)) }
        try kept.restart {
            let path = kept.file("2.journal")
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            harm(&data)
            try write(data, path)
        }
    }

    @Test("changes behind a damaged one are made, and the damage is reported") func gap() throws {
        let kept = try KeptSources(isQuick: true)
        try fifty(kept) { $0[128 + ($0.count - 128) / 2] ^= 1 }
        #expect(try kept.source().revision.pointCount == 149)
        let note = try #require(try kept.source().description.note)
        #expect(note.contains("changes are missing"))
        #expect(note.contains("later ones"))
        #expect(FileManager.default.fileExists(atPath: kept.path + "/damaged/test/2.journal"))
        let said = kept.said()
        try kept.source().change(remove: [1000])
        try kept.restart()
        #expect(try kept.source().revision.pointCount == 148)
        #expect(try kept.source().description.note == note)
        try kept.source().change(upsert: towns(1, from: 1000))
        #expect(kept.said() == said)
    }

    @Test("records behind a damaged header are all made, and nothing is reported as lost") func damagedHeader() throws {
        let kept = try KeptSources(isQuick: true)
        try fifty(kept) { $0[48] ^= 1 }
        #expect(try kept.source().revision.pointCount == 150)
        #expect(try kept.source().description.note == nil)
        #expect(kept.reports.map(\.message).joined().contains("header"))
        #expect(FileManager.default.fileExists(atPath: kept.path + "/damaged/test/2.journal"))
        try kept.source().change(remove: [1000])
        let said = kept.said()
        try kept.restart()
        #expect(kept.said() == said)
        #expect(kept.reports.isEmpty)
    }

    @Test("a change that cannot be made behind a missing one is left out") func dependent() throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create()
        try source.load(towns(10))
        try source.change(upsert: towns(1, from: 1000))
        try kept.restart {
            let path = kept.file("2.journal")
            var data = try Data(contentsOf: URL(fileURLWithPath: path))
            data[data.count - 5] ^= 1
            // A good record, but of options that no source has.
            let payload = Array(#"{"time":1,"revision":90,"options":{"radius":-1}}"#.utf8)
            data += JournalFormat.recordHeader(of: payload, number: 2) + payload
            try write(data, path)
        }
        #expect(try kept.source().revision.pointCount == 10)
        #expect(try kept.source().description.fault == nil)
        #expect(try kept.source().description.note?.contains("could not be made") == true)
    }

    @Test("a source whose directory was removed or replaced takes no changes") func replacedDirectory() throws {
        let kept = try prepared()
        let said = kept.said()
        let folder = "\(kept.path)/sources/test"
        try FileManager.default.copyItem(atPath: folder, toPath: kept.path + "/copy")
        try FileManager.default.removeItem(atPath: folder)
        for _ in 0..<2 {
            #expect(throws: SourceError.self) { try kept.source().change(remove: [9]) }
            #expect(throws: SourceError.self) { try kept.source().load(towns(3)) }
            #expect(kept.said() == said)
            if !FileManager.default.fileExists(atPath: folder) {
                try FileManager.default.moveItem(atPath: kept.path + "/copy", toPath: folder)
            }
        }
        try kept.restart()
        #expect(kept.said() == said)
    }

    @Test("others' access to the state directory is a concern") func concerns() throws {
        let kept = try prepared()
        #expect(kept.registry.shared.directory?.concerns.isEmpty == true)
        chmod(kept.path, 0o777)
        try kept.restart()
        #expect(kept.reports.contains { $0.message.contains("mode 0777") })
        chmod(kept.path, 0o700)
    }
}
