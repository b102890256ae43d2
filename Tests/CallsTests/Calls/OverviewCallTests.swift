// SPDX-License-Identifier: MIT
import ClusterProtocol
import Clustering
import Foundation
import Glibc
import JSON
import SourceTestSupport
import SystemSupport
import Testing

@testable import Answers
@testable import Calls
@testable import SourceStorage
@testable import Sources

/// Calls on a source that a start is still reading.
@Suite("Calls while a source is read") struct OverviewCallTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let kept: KeptSources
    private let caller: Caller
    /// What the source answered before.
    private let before: [String]

    init() throws {
        kept = try KeptSources(overviewPoints: 1)
        try kept.create().load(towns(300))
        let asked = try Caller(on: kept.registry, loop: loop, answers: answers)
        for zoom in 0...4 {
            asked.open("ClusterService/GetClusters", Self.world(zoom), id: 1, answers: answers)
        }
        asked.open("ClusterService/GetTile", Self.tile, id: 1, answers: answers)
        loop.step()
        before = answers.answers
        answers.answers = []
        kept.holdsReading = true
        try kept.restart()
        caller = try Caller(on: kept.registry, loop: loop, answers: answers)
    }

    private static func world(_ zoom: Int, limit: Int? = nil) -> JSONObject {
        var params: JSONObject = ["bbox": [-180, -90, 180, 90], "zoom": .number(Double(zoom))]
        params["limit"] = limit.map { .number(Double($0)) }
        return params
    }

    private static let tile: JSONObject = ["z": 2, "x": 3, "y": 1]

    private func open(_ method: String, _ params: JSONObject = [:], id: Int64 = 1, timeout: Int64? = nil) {
        caller.open(method, params, id: id, timeout: timeout, answers: answers)
        loop.step()
    }

    private func readRest() {
        kept.readRest()
        loop.step()
    }

    @Test("low zooms have the same answers before and after the rest has been read")
    func lowZooms() throws {
        for zoom in 0...4 { open("ClusterService/GetClusters", Self.world(zoom)) }
        open("ClusterService/GetTile", Self.tile)
        #expect(answers.answers == before && answers.errors.isEmpty)
        open("SourceService/GetSource")
        let description = try #require(answers.answers.last)
        #expect(description.contains(#""points":300,"#) && description.contains(#""state":"loading""#))
        answers.answers = []
        readRest()
        for zoom in 0...4 { open("ClusterService/GetClusters", Self.world(zoom)) }
        open("ClusterService/GetTile", Self.tile)
        #expect(answers.answers == before)
        open("SourceService/GetSource")
        #expect(answers.answers.last?.contains(#""state":"ready""#) == true)
    }

    @Test(
        "queries that the overview cannot answer wait for the complete source",
        arguments: [
            ("ClusterService/GetClusters", ["bbox": [0, 0, 9, 9], "zoom": 2, "filter": true]),
            ("ClusterService/GetClusters", ["bbox": [0, 0, 9, 9], "zoom": 2, "include": ["hull"]]),
            ("ClusterService/GetLeaves", ["clusterId": 1]),
            ("ClusterService/LocateFeature", ["featureId": 7, "zoom": 3]),
            ("SourceService/UpdateOptions", ["options": ["radius": 70]]),
            ("SourceService/UpdateFeatures", ["remove": [1, 2]]),
            ("SourceService/DeleteSource", [:]),
        ] as [(String, JSONObject)])
    func waits(_ method: String, _ params: JSONObject) throws {
        open(method, params)
        #expect(answers.answers.isEmpty && answers.errors.isEmpty && caller.openCalls == 1)
        readRest()
        #expect(answers.answers.count + answers.errors.count == 1 && caller.openCalls == 0)
        #expect(answers.errors.allSatisfy { $0.code == .notFound })
    }

    @Test("a query of another revision is rejected at once")
    func otherRevision() throws {
        var params = Self.world(1)
        params["revision"] = 12345
        open("ClusterService/GetClusters", params)
        #expect(answers.errors.map(\.code) == [.aborted])
        open("ClusterService/GetClusters", ["zoom": 1])
        #expect(answers.answers.isEmpty && caller.openCalls == 1)
        readRest()
        #expect(answers.errors.map(\.code) == [.aborted, .invalidArgument])
    }

    @Test("a feature that expires after it was decided that a query need not wait does not refuse the query")
    func expiresMeanwhile() throws {
        let kept = try KeptSources(overviewPoints: 1)
        let source = try kept.create(options: #"{"ttlSeconds":1e6}"#)
        let now = Timestamp.now.milliseconds
        for (first, age) in [(0, Int64(2_000_000_000)), (20, 0)] {
            let load = FeatureImport(
                into: source, mode: .append, policy: .reject, at: Timestamp(milliseconds: now - age))
            try load.add(towns(20, from: first))
            _ = try load.finish(.never)
        }
        source.saveLater()
        kept.wait()
        kept.holdsReading = true
        try kept.restart()
        let overview = try #require(try kept.source().overview)
        let settings = LiveSettings(
            LiveSettings.Values(limits: Limits(), importDirectories: ImportDirectories([])))
        let catalog = SourceCatalog(registry: kept.registry, settings: settings)
        let params = Params(["source": "test", "bbox": [0, 0, 9, 9], "zoom": 1])
        #expect(overview.hasExpired && !catalog.isAnswered(params, at: 1, by: overview) { 0 })
        #expect(try catalog.target(params) { 1 }.revision === overview.revision)
        kept.readRest()
    }

    @Test("a change waits for the complete source and is applied to it")
    func change() throws {
        open("SourceService/UpdateFeatures", ["remove": [1, 2]], id: 1)
        open("SourceService/ImportFeatures", ["mode": "append"], id: 2)
        caller.receive(item: Array(#"{"features":\#(towns(3, from: 500))}"#.utf8), for: 2)
        #expect(caller.inputBytes > 0)
        caller.receiveEnd(for: 2)
        loop.step()
        #expect(answers.answers.isEmpty && answers.errors.isEmpty)
        readRest()
        #expect(answers.answers.count == 2 && answers.errors.isEmpty && caller.inputBytes == 0)
        #expect(try kept.source().revision.pointCount == 301)
    }

    @Test("waiting ends with a cancel, the deadline and the connection")
    func ends() throws {
        open("SourceService/ImportFeatures", id: 1)
        caller.receive(item: Array(#"{"features":[]}"#.utf8), for: 1)
        caller.receiveCancel(for: 1)
        #expect(answers.errors.map(\.code) == [.cancelled] && caller.inputBytes == 0)
        open("ClusterService/GetLeaves", ["clusterId": 1], id: 2, timeout: 0)
        for timer in loop.timers { timer() }
        #expect(answers.errors.map(\.code) == [.cancelled, .deadlineExceeded])
        open("SourceService/UpdateFeatures", ["remove": [1]], id: 3)
        caller.drain()
        #expect(answers.errors.last?.code == .unavailable)
        open("SourceService/UpdateFeatures", ["remove": [1]], id: 4)
        caller.close()
        #expect(caller.openCalls == 0)
        readRest()
        #expect(try kept.source().revision.pointCount == 300)
    }

    @Test("a watch begins once the source is complete")
    func watch() throws {
        open("ClusterService/WatchClusters", Self.world(2))
        #expect(answers.items.isEmpty && answers.errors.isEmpty)
        readRest()
        #expect(answers.items.count == 1)
        caller.receiveCancel(for: 1)
    }

    /// A source whose overview has only low zooms, of which no more is read.
    private static func partlyRead() throws -> (kept: KeptSources, whole: Revision) {
        let kept = try KeptSources(overviewPoints: 1, overviewNodes: 40)
        try kept.create().load(towns(3000))
        let whole = try kept.source().revision
        kept.holdsReading = true
        try kept.restart()
        return (kept, whole)
    }

    @Test("deep zooms are answered from the snapshot before it has been read, and the same afterwards")
    func deepZooms() throws {
        let (kept, _) = try Self.partlyRead()
        let caller = try Caller(on: kept.registry, loop: loop, answers: answers)
        func ask() -> [String] {
            answers.answers = []
            for zoom in [9, 14, 17] {
                caller.open("ClusterService/GetClusters", Self.world(zoom), id: 1, answers: answers)
                caller.open("ClusterService/GetClusters", Self.world(zoom, limit: 3), id: 2, answers: answers)
            }
            caller.open("ClusterService/GetTile", ["z": 9, "x": 300, "y": 200], id: 1, answers: answers)
            caller.open(
                "ClusterService/GetTile", ["z": 8, "x": 140, "y": 110, "encoding": "mvt"], id: 2,
                answers: answers)
            loop.step()
            return answers.answers
        }
        let early = ask()
        #expect(early.count == 8 && answers.errors.isEmpty && kept.registry.isLoading)
        // A leaf needs what is not read in pieces.
        caller.open("ClusterService/GetLeaves", ["clusterId": 1], id: 3, answers: answers)
        loop.step()
        #expect(answers.errors.isEmpty && caller.openCalls == 1)
        kept.readRest()
        loop.step()
        #expect(answers.errors.map(\.code) == [.notFound])
        #expect(!kept.registry.isLoading && ask() == early)
    }

    @Test("a deep zoom waits for the complete source if the snapshot is useless")
    func uselessSnapshot() throws {
        let (kept, _) = try Self.partlyRead()
        let caller = try Caller(on: kept.registry, loop: loop, answers: answers)
        let path = kept.file(try #require(try kept.files().filter { $0.hasSuffix(".snapshot") }.max()))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        #expect(try #require(try kept.source().overview?.snapshot).revision() == nil)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        caller.open("ClusterService/GetClusters", Self.world(14), id: 1, answers: answers)
        loop.step()
        #expect(answers.answers.isEmpty && caller.openCalls == 1)
        kept.readRest()
        loop.step()
        #expect(answers.answers.count == 1 && answers.errors.isEmpty)
    }

    @Test("an answer from a snapshot that turns out to be damaged is made of the complete source instead")
    func damagedMeanwhile() throws {
        let (kept, whole) = try Self.partlyRead()
        let source = try kept.source()
        let target = UnreadTarget(
            snapshot: try #require(source.overview?.snapshot), name: source.name, registry: kept.registry)
        let path = kept.file(try #require(try kept.files().filter { $0.hasSuffix(".snapshot") }.max()))
        let slots = SnapshotSection.index(.spatialSlots)
        let reader = try SectionFileReader(FileImage(path), path: path)
        let start = reader.offset(of: slots)
        let pieces = stride(from: start, to: start + reader.bytes(slots).count, by: 1 << 14)
        func damage() {
            let file = Glibc.open(path, O_RDWR)
            defer { close(file) }
            for place in pieces {
                var byte: UInt8 = 0
                #expect(pread(file, &byte, 1, off_t(place)) == 1)
                byte ^= 1
                #expect(pwrite(file, &byte, 1, off_t(place)) == 1)
            }
        }
        var bytes = ByteWriter()
        bytes.append(raw: "before ")
        var read: [Revision] = []
        damage()
        try target.write(whole.number, CallContext(), into: &bytes) {
            (revision, _, bytes) throws(SourceError) in
            read.append(revision)
            let query = ClustersQuery(box: .world, zoom: 14)
            try revision.writeClusters(query, of: revision.view, into: &bytes, .never)
            guard read.count == 1 else { return }
            #expect(revision.isDamaged)
            // The complete source finds an intact file.
            damage()
            kept.registry.shared.reading.resume()
        }
        kept.registry.shared.reading.hold()
        var expected = ByteWriter()
        expected.append(raw: "before ")
        try whole.writeClusters(
            ClustersQuery(box: .world, zoom: 14), of: whole.view, into: &expected, .never)
        #expect(bytes.string == expected.string && read.count == 2)
        #expect(try kept.source().revision === read.last)
    }
}
