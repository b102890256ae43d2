// SPDX-License-Identifier: MIT
import Foundation
import SourceTestSupport
import Testing

@testable import Responses
@testable import ImageStore
@testable import SourceEngine

/// Whatever becomes of a source's files: the right answer, an older one that says so, or the error that says
/// what is wrong; and the source beside it answers as ever.
@Suite("Damaged files") struct DamageTests {
    /// What a source's files are allowed to give.
    private struct Allowed {
        /// The newest answers.
        var newest: String
        /// Earlier answers, for a journal that was cut.
        var older: Set<String>
    }

    private final class Folder {
        let kept: KeptSources
        let files: [String: Data]
        let allowed: Allowed

        /// A source with two snapshots and journals that have records, and one beside it.
        init(isOnDemand: Bool = false, _ prepare: (KeptSources, inout Set<String>) throws -> Void) throws {
            kept = try KeptSources(isQuick: true, isOnDemand: isOnDemand)
            try kept.create("beside").load(towns(5))
            var older: Set<String> = []
            try prepare(kept, &older)
            allowed = Allowed(newest: kept.said(), older: older)
            kept.wait()
            let kept = kept
            files = try Dictionary(
                // Those under another name do not outlive the daemon.
                uniqueKeysWithValues: kept.files().filter { !$0.hasPrefix("new-") }.map {
                    ($0, try Data(contentsOf: URL(fileURLWithPath: kept.file($0))))
                })
        }

        /// Restarts on files of which one has changed.
        func check(_ name: String, _ data: Data?, _ what: String) throws {
            let beside = kept.said("beside")
            try kept.restart {
                for name in try kept.files() { unlink(kept.file(name)) }
                for (other, content) in files where other != name {
                    try content.write(to: URL(fileURLWithPath: kept.file(other)))
                }
                if let data { try data.write(to: URL(fileURLWithPath: kept.file(name))) }
            }
            let seen = kept.said()
            let isTold = try kept.source().description.damage != nil || kept.source().description.note != nil
            let isRight =
                seen == allowed.newest || seen.contains("is damaged: ") || (allowed.older.contains(seen) && isTold)
            #expect(isRight, "\(name), \(what): \(seen)")
            #expect(kept.said("beside") == beside, "\(name), \(what)")
            guard !seen.contains("is damaged: ") else { return }
            // What is served can be changed, and comes back so.
            try kept.source().change(upsert: towns(1, from: 500))
            let changed = kept.said()
            try kept.restart()
            #expect(kept.said() == changed, "\(name), \(what), changed: \(kept.said())")
        }
    }

    /// Snapshots of two imports, and a journal behind the second.
    private static func imports(_ kept: KeptSources, _ older: inout Set<String>) throws {
        let source = try kept.create(options: StateTests.folding)
        try source.load(towns(12))
        older.insert(kept.said())
        try source.load(towns(20, from: 5))
        older.insert(kept.said())
        try source.change(upsert: towns(2, from: 100))
        older.insert(kept.said())
        try source.change(remove: [8])
        // A damaged record of an update is left out, and what follows it is not.
        let other = try kept.create("other", options: StateTests.folding)
        try other.load(towns(20, from: 5))
        try other.change(remove: [8])
        older.insert(kept.said("other"))
    }

    /// A snapshot of the same data as the one before it with its journal.
    private static func compacted(_ kept: KeptSources, _ older: inout Set<String>) throws {
        let source = try kept.create()
        try source.load(towns(12))
        older.insert(kept.said())
        try source.change(upsert: towns(2, from: 100))
        source.saveLater()
        kept.wait()
        older.insert(kept.said())
        try source.change(remove: [8])
    }

    /// The files of a source that was loaded once: what is before that is no older data.
    private static func once(_ kept: KeptSources, _ older: inout Set<String>) throws {
        let source = try kept.create()
        try source.load(towns(12))
        older.insert(kept.said())
        try source.change(remove: [8])
    }

    @Test("every file missing, and every file cut at many lengths") func cuts() throws {
        for (prepare, count) in [(Self.imports, 4), (Self.compacted, 4), (Self.once, 4)] {
            let folder = try Folder(prepare)
            #expect(folder.files.count == count)
            for (name, data) in folder.files.sorted(by: { $0.key < $1.key }) {
                try folder.check(name, nil, "missing")
                let step = max(1, data.count / 25)
                for length in stride(from: 0, to: data.count, by: step) {
                    try folder.check(name, data.prefix(length), "cut to \(length)")
                }
                try folder.check(name, data.dropLast(), "without its last byte")
                try folder.check(name, data + Data([0]), "with a byte more")
            }
        }
    }

    @Test("flipped bytes anywhere", arguments: [false, true], [false, true])
    func flips(_ isCompacted: Bool, isOnDemand: Bool) throws {
        let folder = try Folder(isOnDemand: isOnDemand, isCompacted ? Self.compacted : Self.imports)
        for (name, data) in folder.files.sorted(by: { $0.key < $1.key }) {
            // Everything of what comes first, and places all over the rest: one half of them in a file that is read on
            // demand, the other in one that is read at once.
            let step = max(1, data.count / 60)
            let places =
                Array(0..<min(64, data.count))
                + Array(stride(from: name.hasSuffix("t") ? 1 << 14 : 64, to: data.count, by: step))
            for (number, place) in places.enumerated() where number.isMultiple(of: 2) == isOnDemand {
                var flipped = data
                flipped[place] ^= UInt8(1 << (place % 8))
                try folder.check(name, flipped, "byte \(place) flipped")
            }
        }
    }

    /// The text's first byte is damaged: this is found while data are served, and older ones are taken up beside calls.
    @Test("changes are kept whenever damaged text is found", arguments: [false, true])
    func damageFoundLate(_ isCompacted: Bool) throws {
        let folder = try Folder(isOnDemand: true, isCompacted ? Self.compacted : Self.imports)
        let newest = try #require(folder.files.keys.filter { $0.hasSuffix("t") }.max())
        var flipped = try #require(folder.files[newest])
        flipped[1 << 14] ^= 1
        for _ in 0..<60 { try folder.check(newest, flipped, "the first byte of text flipped") }
    }

    @Test("files of a newer clusterd are refused by name and stay as they are") func newerFormat() throws {
        let folder = try Folder(Self.imports)
        let kept = folder.kept
        for name in ["3.snapshot", "3.journal"] {
            var later = try #require(folder.files[name])
            later[8] = 7
            let checksum = SectionFile.headerChecksum(later)
            withUnsafeBytes(of: checksum) { later.replaceSubrange(20..<24, with: $0) }
            try kept.restart {
                for name in try kept.files() { unlink(kept.file(name)) }
                for (other, content) in folder.files {
                    try (other == name ? later : content).write(to: fileURL(kept, other))
                }
            }
            #expect(try kept.source().description.state == .unavailable)
            #expect(kept.reports.map(\.message).joined().contains("written by a newer clusterd"))
            #expect(throws: SourceError.self) { try kept.source().change(remove: [8]) }
            #expect(try Set(kept.files()) == Set(folder.files.keys))
            #expect(try Data(contentsOf: fileURL(kept, name)) == later)
        }
        try kept.restart {
            for (name, content) in folder.files { try content.write(to: fileURL(kept, name)) }
        }
        #expect(kept.said() == folder.allowed.newest)
    }

    @Test("an import interrupted by a kill leaves no trace, and later changes are kept")
    func unfinishedImport() throws {
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(5))
        let seen = kept.seen()
        // What `replace` has written before its snapshot has its name.
        let names = [kept.file("new-3"), kept.file("3.journal")]
        try kept.restart {
            try Data(count: 5000).write(to: URL(fileURLWithPath: names[0]))
            _ = try JournalWriter(
                creating: names[1], beside: kept.file("new-3.journal"), generation: 3, revision: 9,
                previous: nil, hasBegun: false)
        }
        #expect(kept.seen() == seen)
        #expect(kept.reports.isEmpty)
        #expect(try kept.files() == ["1.journal", "1.snapshot", "2.journal", "2.snapshot"])
        try kept.source().change(remove: [1])
        kept.wait()
        try kept.source().saveLater()
        kept.wait()
        try kept.source().change(remove: [2])
        let changed = kept.said()
        for name in ["", "3.snapshot"] {
            try kept.restart { if !name.isEmpty { unlink(kept.file(name)) } }
            #expect(kept.said() == changed)
        }
    }

    @Test("of a damaged journal the changes before the damage are kept, and the loss is shown")
    func damagedTail() throws {
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(5))
        let journal = URL(fileURLWithPath: kept.file("2.journal"))
        var states = [kept.said()]
        var ends = [try Data(contentsOf: journal).count]
        for place in 0..<4 {
            try source.change(upsert: towns(1, from: 50 + 10 * place))
            states.append(kept.said())
            ends.append(try Data(contentsOf: journal).count)
        }
        kept.wait()
        let files = try Dictionary(
            uniqueKeysWithValues: kept.files().map { ($0, try Data(contentsOf: fileURL(kept, $0))) })
        let whole = try #require(files["2.journal"])
        let cases = [
            (whole.dropLast(), 3), (whole.prefix(ends[3]), 3), (whole.prefix(ends[1] + 5), 1),
            (whole.prefix(ends[2] + 5) + [1], 2), (whole.prefix(ends[0]), 0),
        ]
        for (data, count) in cases {
            try kept.restart {
                for name in try kept.files() { unlink(kept.file(name)) }
                for (name, content) in files { try content.write(to: fileURL(kept, name)) }
                try data.write(to: journal)
            }
            #expect(kept.said() == states[count], "\(data.count) bytes")
            #expect(try kept.source().description.note?.contains("2.journal") == true)
            try kept.restart()
            #expect(kept.said() == states[count])
        }
    }

    private func fileURL(_ kept: KeptSources, _ name: String) -> URL {
        URL(fileURLWithPath: kept.file(name))
    }

    @Test("a truncated journal is reported, and nothing acknowledged is lost") func tornTail() throws {
        let kept = try KeptSources()
        let source = try kept.create()
        try source.load(towns(5))
        try source.change(upsert: towns(1, from: 50))
        let seen = kept.said()
        let journal = kept.file("2.journal")
        let whole = try Data(contentsOf: URL(fileURLWithPath: journal))
        // As a daemon leaves it that is killed while it writes a record.
        let payload = JournalRecord.update(upserts: Array("[]".utf8), removals: Array("[]".utf8)).payload(
            at: .now, revision: 99)
        let record = JournalFormat.recordHeader(of: payload, number: 2) + payload
        for length in [1, 23, 24, record.count - 1] {
            try kept.restart { try (whole + record.prefix(length)).write(to: URL(fileURLWithPath: journal)) }
            #expect(kept.said() == seen)
            #expect(kept.reports.map(\.message).joined().contains("\(length) bytes"))
            try kept.source().change(upsert: towns(1, from: 50))
            try kept.restart()
            #expect(kept.said() == seen)
            #expect(kept.reports.isEmpty)
        }
    }
}
