// SPDX-License-Identifier: MIT
import Clustering
import Foundation
import GeoJSON
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Answers
@testable import SourceStorage
@testable import Sources

@Suite("Sources that answer from an overview")
struct OverviewTests {
    private func loaded(_ options: String = "{}", textInMemory: Int = 1) throws -> KeptSources {
        let kept = try KeptSources(textInMemory: textInMemory, overviewPoints: 100)
        try kept.create(options: options).load(towns(300))
        kept.holdsReading = true
        return kept
    }

    private func answer(_ revision: Revision, _ zoom: Int) throws -> String {
        var bytes = ByteWriter()
        try revision.writeClusters(
            ClustersQuery(box: .world, zoom: Double(zoom)), of: revision.view, into: &bytes, .never)
        let tile = try #require(TilePlace(z: zoom, x: 0, y: 0))
        try revision.writeTile(tile, of: revision.view, into: &bytes, .never)
        var vector = ByteWriter()
        try revision.appendVectorTile(
            tile, of: revision.view, layer: "test", output: FeatureOutput(), into: &vector, .never)
        return bytes.string + vector.withUnsafeBytes { "\(Array($0))" }
    }

    @Test(
        "it answers as the whole source does",
        arguments: [
            "{}", #"{"precision":"double","minPoints":3}"#, #"{"precision":"fixed","minZoom":2,"maxZoom":9}"#,
            #"{"filter":[">",["get","n"],2],"promoteId":"n"}"#,
            #"{"projection":{"planar":[-200,-100,300,200]}}"#,
        ], [1, 1 << 20])
    func sameAnswers(_ options: String, _ textInMemory: Int) throws {
        let kept = try loaded(options, textInMemory: textInMemory)
        let whole = try kept.source().revision
        try kept.restart()
        let source = try kept.source()
        let overview = try #require(source.overview)
        #expect(source.isLoading && kept.registry.isLoading && source.description.state == .loading)
        for zoom in whole.options.minZoom...whole.options.maxZoom + 1 {
            #expect(overview.answers(at: Double(zoom)))
            #expect(try answer(overview.revision, zoom) == answer(whole, zoom))
        }
        #expect(overview.revision.number == whole.number && overview.revision.bounds == whole.bounds)
        #expect(overview.revision.pointCount == whole.pointCount)
        kept.readRest()
        #expect(try !kept.source().isLoading && !kept.registry.isLoading)
        #expect(try kept.source().description.state == .ready)
        #expect(try answer(kept.source().revision, 4) == answer(whole, 4))
        #expect(source.isRetired && source.current.isNone)
        #expect(kept.reports.map(\.gravity) == [.information])
    }

    @Test(
        "sources whose answers need more have none, nor have small ones",
        arguments: [
            #"{"clusterProperties":{"sum":["+",["get","n"]]}}"#, #"{"weight":["+",1,["get","n"]]}"#,
            #"{"partitionBy":["get","kind"]}"#, #"{"sortKey":["id"]}"#, #"{"clusterIds":"origin"}"#,
            #"{"generateId":true}"#, #"{"ttlSeconds":1e9}"#,
        ])
    func unsuited(_ options: String) throws {
        let kept = try loaded(options)
        try kept.create("small").load(towns(99))
        try kept.restart()
        for name in ["test", "small"] { #expect(try !kept.source(name).isLoading) }
        #expect(kept.reports.isEmpty)
    }

    @Test("a source with changes to replay is read first, and again early once they are in a snapshot")
    func changes() throws {
        let kept = try loaded()
        try kept.source().change(remove: [5])
        let seen = kept.seen()
        try kept.restart()
        #expect(try !kept.source().isLoading && kept.seen() == seen)
        try kept.source().load(towns(200))
        let replaced = kept.seen()
        try kept.restart()
        #expect(try kept.source().isLoading)
        kept.readRest()
        #expect(kept.seen() == replaced)
    }

    @Test("nothing changes it while it is read, and a deletion waits")
    func noChange() throws {
        let kept = try loaded()
        try kept.restart()
        let source = try kept.source()
        #expect(throws: SourceError.self) { try source.change(remove: [1]) }
        #expect(throws: SourceError.self) { try source.load(towns(3)) }
        #expect(throws: SourceError.self) { try source.intactRevision() }
        #expect(throws: SourceError.cancelled) {
            try kept.registry.wholeSource(source.name, Cancellation { true })
        }
        kept.registry.expire()
        kept.registry.shared.reading.resume()
        try kept.registry.delete(source.name)
        kept.registry.shared.reading.suspend()
        #expect(kept.registry.all.isEmpty)
        kept.readRest()
        #expect(kept.registry.all.isEmpty && kept.reports.allSatisfy { $0.gravity == .information })
    }

    private func damage(_ kept: KeptSources, _ section: UInt32) throws {
        let snapshot = try #require(kept.files().filter { $0.hasSuffix(".snapshot") }.max())
        let path = kept.file(snapshot)
        let offset = try SectionFileReader(FileImage(path), path: path).offset(of: section)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [byte ^ 1])
        try file.close()
    }

    @Test("damage behind the overview has the same outcome as without one")
    func damagedRest() throws {
        for hasOlder in [false, true] {
            var outcomes: [String] = []
            for overviewPoints in [0, 1] {
                let kept = try KeptSources(overviewPoints: overviewPoints)
                try kept.create().load(towns(300))
                if hasOlder { try kept.source().load(towns(200)) }
                kept.holdsReading = true
                try kept.restart { try damage(kept, SnapshotSection.index(.leaves)) }
                #expect(try kept.source().isLoading == (overviewPoints == 1))
                if let overview = try kept.source().overview {
                    #expect(overview.revision.pointCount == (hasOlder ? 200 : 300))
                }
                kept.readRest()
                let description = try kept.source().description
                let isRead = kept.reports.contains { $0.gravity == .information }
                #expect(isRead == (hasOlder && overviewPoints == 1))
                // Without the time and the folder, which differ.
                let told = (description.damage ?? description.note ?? "").components(separatedBy: "/sources/")
                #expect(told.last?.contains("damaged in its section") == true)
                let said = kept.said().replacingOccurrences(of: kept.path, with: "")
                outcomes.append("\(description.state) \(told.last ?? "") \(said)")
            }
            #expect(outcomes[0] == outcomes[1], "\(hasOlder)")
        }
    }

    @Test(
        "a damaged overview costs only time",
        arguments: [
            SnapshotSection.overviewText, SnapshotSection.overviewOffsets,
            SnapshotSection.overview(.spatialSlots), SnapshotSection.overview(.clusterX),
        ])
    func damagedOverview(_ section: UInt32) throws {
        let kept = try loaded()
        let seen = kept.seen()
        try kept.restart { try damage(kept, section) }
        #expect(try !kept.source().isLoading && kept.seen() == seen)
        #expect(kept.reports.isEmpty)
    }
}
