// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Answers
@testable import SourceStorage
@testable import Sources

@Suite("Snapshots that a start has not read yet")
struct UnreadSnapshotTests {
    /// A source whose overview has only the lowest zooms.
    private func loaded(_ options: String = "{}", textInMemory: Int = 1) throws -> KeptSources {
        let kept = try KeptSources(textInMemory: textInMemory, overviewPoints: 100, overviewNodes: 200)
        try kept.create(options: options).load(towns(3000))
        kept.holdsReading = true
        return kept
    }

    private func answer(_ revision: Revision, _ zoom: Int, _ box: Box = .world) throws -> String {
        var bytes = ByteWriter()
        try revision.writeClusters(
            ClustersQuery(box: box, zoom: Double(zoom)), of: revision.view, into: &bytes, .never)
        try revision.writeClusters(
            ClustersQuery(box: box, zoom: Double(zoom), limit: 5), of: revision.view, into: &bytes, .never)
        let tile = try #require(TilePlace(z: zoom, x: (1 << zoom) / 2, y: (1 << zoom) / 4))
        return bytes.string + (try revision.text(of: tile))
    }

    @Test(
        "answer zooms that the overview lacks as the whole source does",
        arguments: [
            "{}", #"{"precision":"double","minPoints":3}"#, #"{"precision":"fixed","minZoom":2,"maxZoom":9}"#,
            #"{"filter":[">",["get","n"],2],"promoteId":"n"}"#, #"{"weight":["+",1,["get","n"]]}"#,
            #"{"generateId":true}"#, #"{"ttlSeconds":1e9}"#,
            #"{"projection":{"planar":[-200,-100,300,200]}}"#,
        ])
    func sameAnswers(_ options: String) throws {
        let kept = try loaded(options)
        let whole = try kept.source().revision
        try kept.restart()
        let overview = try #require(try kept.source().overview)
        #expect(!overview.has(Double(whole.options.maxZoom)))
        let snapshot = try #require(overview.snapshot)
        #expect(snapshot.isUseful)
        let unread = try #require(snapshot.revision())
        #expect(unread.number == whole.number && unread.pointCount == whole.pointCount && !unread.isAtHand)
        #expect(unread.bounds == whole.bounds)
        for zoom in whole.options.minZoom...whole.options.maxZoom + 1 {
            #expect(try answer(unread, zoom) == answer(whole, zoom))
            let box = Box(west: 10, south: 5, east: 21, north: 30)
            #expect(try answer(unread, zoom, box) == answer(whole, zoom, box))
        }
        #expect(snapshot.isUseful && !unread.isDamaged && snapshot.revision() === unread)
        kept.readRest()
        #expect(try answer(kept.source().revision, 14) == answer(whole, 14))
    }

    @Test(
        "are not used if answers need more than what a box shows",
        arguments: [
            #"{"clusterProperties":{"sum":["+",["get","n"]]}}"#, #"{"partitionBy":["get","kind"]}"#,
            #"{"sortKey":["get","n"]}"#, #"{"clusterIds":"origin"}"#,
        ])
    func unsuited(_ options: String) throws {
        let kept = try loaded(options)
        try kept.restart()
        let overview = try #require(try kept.source().overview)
        #expect(overview.snapshot == nil)
    }

    @Test("are not used if their text is short, or after changes")
    func unsuitedFiles() throws {
        let short = try loaded(textInMemory: 1 << 24)
        try short.restart()
        #expect(try #require(try short.source().overview).snapshot == nil)
        let changed = try loaded()
        try changed.source().change(remove: [1])
        changed.wait()
        try changed.restart()
        #expect(try changed.source().overview?.snapshot == nil)
    }

    /// The snapshot's path, and where a section lies in it.
    private func section(_ kept: KeptSources, _ name: UInt32) throws -> (path: String, range: Range<Int>) {
        let snapshot = try #require(kept.files().filter { $0.hasSuffix(".snapshot") }.max())
        let reader = try SectionFileReader(FileImage(kept.file(snapshot)), path: kept.file(snapshot))
        let start = reader.offset(of: name)
        return (kept.file(snapshot), start..<start + reader.bytes(name).count)
    }

    private func flip(_ path: String, at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 1])
    }

    /// The sections that queries of a box read.
    private static let sections: [UInt32] =
        IndexSection.allCases.filter(\.isOfBoxes).map { SnapshotSection.index($0) }
        + [SnapshotSection.blockStarts, SnapshotSection.offsets, SnapshotSection.fineTextChecksums]

    @Test("give right answers or none if any section is damaged anywhere", arguments: sections)
    func damage(_ name: UInt32) throws {
        let kept = try loaded(#"{"weight":["+",1,["get","n"]]}"#)
        let whole = try kept.source().revision
        let answers = try (0...17).map { try answer(whole, $0) }
        let (path, range) = try section(kept, name)
        guard !range.isEmpty else { return }
        var (found, right) = (0, 0)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: max(1, range.count / 5)) {
            try kept.restart { try flip(path, at: offset) }
            let snapshot = try #require(try kept.source().overview?.snapshot)
            if let unread = snapshot.revision() {
                for zoom in 0...17 {
                    let given = try answer(unread, zoom)
                    guard !unread.isDamaged else { break }
                    #expect(given == answers[zoom])
                    right += 1
                }
            }
            found += snapshot.isUseful ? 0 : 1
            #expect(snapshot.isUseful || snapshot.revision().map(\.isDamaged) ?? true)
            // The next start must find no damage but the next.
            kept.holdsReading = true
            try flip(path, at: offset)
        }
        // All zooms together read every section.
        #expect(found > 0, "\(right) right answers")
    }

    @Test("are useless once the file is gone or another has its name")
    func replaced() throws {
        let kept = try loaded()
        try kept.restart()
        let snapshot = try #require(try kept.source().overview?.snapshot)
        let (path, _) = try section(kept, SnapshotSection.offsets)
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        #expect(snapshot.isUseful && snapshot.revision() == nil && !snapshot.isUseful)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(snapshot.revision() == nil)
    }

    @Test("a snapshot of an earlier release, without checksums of pieces, is read completely first")
    func olderSnapshot() throws {
        let kept = try loaded()
        let seen = kept.seen()
        let snapshot = try #require(kept.files().filter { $0.hasSuffix(".snapshot") }.max())
        try kept.restart { try rewrite(kept.file(snapshot), without: SnapshotSection.pieceChecksums) }
        #expect(try #require(try kept.source().overview).snapshot == nil)
        kept.readRest()
        #expect(kept.seen() == seen && kept.reports.map(\.gravity) == [.information])
    }

    /// Writes a file again without one section.
    private func rewrite(_ path: String, without left: UInt32) throws {
        let image = try FileImage(loading: path)
        let reader = try SectionFileReader(image, path: path)
        let writer = try SectionFileWriter(path + ".new")
        for name in reader.names.sorted() where name != left {
            let isText = name == SnapshotSection.text
            try writer.add(name, reader.bytes(name), checksum: isText ? SectionFile.checkedElsewhere : nil)
        }
        try writer.finish(generation: reader.generation)
        try FileIO.rename(path + ".new", to: path)
    }
}
