// SPDX-License-Identifier: MIT
import Clustering
import Compression
import Foundation
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("Archives of tiles") struct TilePublicationTests {
    /// A folder of its own, removed at the end.
    private final class Folder {
        let path = NSTemporaryDirectory() + "clusterd-archive-" + UUID().uuidString.prefix(12)

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
    }

    private static func source(points: Int, options: String = "{}", seed: UInt32 = 1) throws -> TestSource {
        let test = try TestSource(options: options)
        var random = PythonRandom(seed: seed)
        let features = (0..<points).map { index in
            // Towns, lone points, and points on both sides of the antimeridian.
            let town = Double(index % 7) * 51 - 180
            let longitude = max(-180, min(180, town + (random.random() - 0.5) * (index % 3 == 0 ? 40 : 1)))
            let latitude = (random.random() - 0.5) * 160
            return
                #"{"type":"Feature","id":\#(index),"properties":{"name":"n\#(index)","size":\#(index % 9)},"geometry":{"type":"Point","coordinates":[\#(longitude),\#(latitude)]}}"#
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        return test
    }

    private static func publish(
        _ test: TestSource, to folder: Folder, _ request: ArchiveRequest, filter: String? = nil,
        overwrite: Bool = false, threads: Int = 2, _ cancellation: Cancellation = .never,
        _ progress: (ArchiveProgress) -> Void = { _ in }
    ) throws -> (summary: ArchiveSummary, archive: ArchiveReader) {
        let revision = test.source.revision
        let queryFilter = try filter.map { QueryFilter(try JSONReader.parse($0)) }
        let target = try ExportDirectories([folder.path]).target("a.pmtiles", overwrite: overwrite)
        let summary = try TilePublication(
            of: revision, queryFilter, request, threads: threads, cancellation
        ).write(to: target, progress)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/a.pmtiles"))
        return (summary, ArchiveReader(bytes: Array(bytes)))
    }

    /// Looks at every address of some zooms and returns how many have a tile: each that has features, and no other.
    private static func compare(
        _ archive: ArchiveReader, with revision: Revision, zooms: ClosedRange<Int>, layer: String,
        filter: QueryFilter? = nil
    ) throws -> Int {
        let tiles = Dictionary(
            try archive.tiles().map { ($0.id, Array($0.content)) }, uniquingKeysWith: { first, _ in first })
        var found = 0
        for z in zooms {
            let view = try revision.view(filter, zoom: Double(z), .never)
            for x in 0..<1 << z {
                for y in 0..<1 << z {
                    var expected = ByteWriter()
                    try revision.appendVectorTile(
                        try #require(TileAddress(z: z, x: x, y: y)), of: view, layer: layer, into: &expected, .never)
                    let content = tiles[ArchiveTileID.of(z: z, x: x, y: y)]
                    #expect((content != nil) == (expected.count > 0), "\(z)/\(x)/\(y)")
                    guard let content else { continue }
                    found += 1
                    #expect(try Zlib.inflate(content, format: .gzip, limit: 1 << 24) == expected.bytes)
                }
            }
        }
        #expect(found == tiles.count)
        return found
    }

    @Test(
        "have every tile that has features, each with GetTile's bytes",
        arguments: [
            "{}", #"{"radius":120}"#, #"{"maxZoom":3}"#, #"{"radius":1e300}"#,
        ])
    func tilesAreThoseOfGetTile(_ options: String) throws {
        let (test, folder) = (try Self.source(points: 1500, options: options), try Folder())
        _ = try test.update(
            upsert:
                #"[{"type":"Feature","id":5,"properties":null,"geometry":{"type":"Point","coordinates":[179.9,3]}}]"#,
            remove: [try #require(FeatureIdentifier(.number(9)))])
        let zooms = 0...5
        let (summary, archive) = try Self.publish(test, to: folder, ArchiveRequest(zooms: zooms, layer: "places"))
        let found = try Self.compare(archive, with: test.source.revision, zooms: zooms, layer: "places")
        #expect(found == summary.tiles)
        #expect(found == archive.addressedTiles)
        #expect(archive.isVersion3)
        #expect(archive.isClustered)
        #expect(archive.tileType == 1)
        #expect(archive.tileCompression == 2)
        #expect(archive.zooms == zooms)
        #expect(archive.bytes.count == summary.bytes)
        #expect(folder.names == ["a.pmtiles"])
    }

    @Test("of a planar source have the bounds of their tiles on a map of the Earth, and name their units")
    func plane() throws {
        let (test, folder) = (
            try TestSource(options: #"{"projection":{"planar":[0,0,2000,1000]}}"#), try Folder()
        )
        let points = [(100, 900), (110, 905), (700, 20), (1500, 100)].map { x, y in
            #"{"type":"Feature","id":\#(x),"properties":null,"geometry":{"type":"Point","coordinates":[\#(x),\#(y)]}}"#
        }
        try test.load("[" + points.joined(separator: ",") + "]")
        let (summary, archive) = try Self.publish(test, to: folder, ArchiveRequest(zooms: 0...4, layer: "floor"))
        #expect(summary.bounds == Box(west: 100, south: 20, east: 1500, north: 905))
        // A twentieth and three quarters of the square's side.
        #expect(abs(archive.degrees(102) - -162) < 1e-6)
        #expect(abs(archive.degrees(110) - 90) < 1e-6)
        #expect(abs(archive.degrees(114) - Mercator.latitude(y: 95.0 / 2000)) < 1e-6)
        let metadata = String(decoding: try archive.metadata(), as: UTF8.self)
        #expect(
            metadata.contains(#""projection":{"planar":[0,0,2000,1000]},"planar_bounds":[100,20,1500,905]"#))
        #expect(
            try Self.compare(archive, with: test.source.revision, zooms: 0...4, layer: "floor")
                == summary.tiles)
    }

    @Test("are of one revision from the first to the last tile, whatever changes meanwhile") func oneRevision() throws {
        let (test, folder) = (try Self.source(points: 12_000), try Folder())
        let revision = test.source.revision
        var changes = 0
        let (summary, archive) = try Self.publish(test, to: folder, ArchiveRequest(zooms: 0...6, layer: "a")) { _ in
            changes += 1
            let features = (0..<50).map { index in
                let (id, longitude) = (changes * 50 + index, (changes * 37 + index * 11) % 360 - 180)
                return
                    #"{"type":"Feature","id":\#(id),"properties":{"moved":\#(changes)},"geometry":{"type":"Point","coordinates":[\#(longitude),\#(index)]}}"#
            }
            do { _ = try test.update(upsert: "[" + features.joined(separator: ",") + "]") } catch {
                Issue.record(error)
            }
        }
        #expect(changes > 1)
        #expect(test.source.revision.number > revision.number)
        #expect(summary.revision == revision.number)
        #expect(try Self.compare(archive, with: revision, zooms: 0...6, layer: "a") == summary.tiles)
        #expect(!String(decoding: try archive.metadata(), as: UTF8.self).contains("moved"))
    }

    @Test("do not depend on the number of threads") func threads() throws {
        let (test, folder) = (try Self.source(points: 8000), try Folder())
        let request = ArchiveRequest(zooms: 0...7, layer: "places")
        let one = try Self.publish(test, to: folder, request, threads: 1).archive
        let many = try Self.publish(test, to: folder, request, overwrite: true, threads: 7).archive
        #expect(one.bytes == many.bytes)
    }

    @Test("apply the filter, the selected properties and the included members") func outputs() throws {
        let (test, folder) = (try Self.source(points: 2000), try Folder())
        let output = FeatureOutput(properties: PropertySelection(["size"]), include: [.expansionZoom, .bounds])
        let request = ArchiveRequest(zooms: 0...4, layer: "small", output: output, isCompressed: false)
        let archive = try Self.publish(test, to: folder, request, filter: #"["<",["get","size"],4]"#).archive
        #expect(archive.tileCompression == 1)
        let metadata = String(decoding: try archive.metadata(), as: UTF8.self)
        #expect(!metadata.contains(#""name":"String""#))
        #expect(metadata.contains(#""size":"Number""#))
        #expect(metadata.contains(#""bbox":"String""#))
        #expect(metadata.contains(#""expansionZoom":"Number""#))
        #expect(metadata.contains(#""min":0,"max":3"#))
        guard case .object(let object) = try JSONReader.parse(metadata) else {
            Issue.record("metadata is an object")
            return
        }
        #expect(object["name"] == .string("small"))
    }

    @Test(
        "are about as large as estimated, with the estimated number of tiles",
        arguments: [nil, #"["==",["get","size"],1]"#])
    func estimate(_ filter: String?) throws {
        let test = try Self.source(points: 30_000)
        let folder = try Folder()
        let request = ArchiveRequest(zooms: 2...9, layer: "points")
        let summary = try Self.publish(test, to: folder, request, filter: filter).summary
        let queryFilter = try filter.map { QueryFilter(try JSONReader.parse($0)) }
        let zooms = try TilePublication(of: test.source.revision, queryFilter, request, threads: 2, .never).estimate()
        #expect(zooms.map(\.zoom) == Array(2...9))
        #expect(zooms.reduce(0) { $0 + $1.tiles } == summary.tiles)
        let bytes = zooms.reduce(0) { $0 + $1.bytes }
        #expect(abs(bytes - summary.bytes) < summary.bytes / 4, "\(bytes), not \(summary.bytes)")
    }

    @Test("replace an existing file only with overwrite") func overwriting() throws {
        let (test, folder) = (try Self.source(points: 50), try Folder())
        let request = ArchiveRequest(zooms: 0...2, layer: "a")
        _ = try Self.publish(test, to: folder, request)
        #expect(throws: ArchiveError.self) { try Self.publish(test, to: folder, request) }
        _ = try Self.publish(test, to: folder, request, overwrite: true)
        #expect(folder.names == ["a.pmtiles"])
    }

    /// A filter of some kind that depends on the zoom.
    private static func zoomFilter(_ random: inout PythonRandom) -> String {
        let number = Int(random.random() * 8)
        let choice = Int(random.random() * 6)
        return switch choice {
        case 0: #"[">=",["get","size"],["-",\#(number),["zoom"]]]"#
        case 1: #"["<=",["get","size"],["+",\#(number - 4),["zoom"]]]"#
        case 2: #"["==",["%",["get","size"],3],["%",["zoom"],3]]"#
        case 3: #"["step",["zoom"],["==",["get","size"],\#(number)],2,false,4,true]"#
        case 4: #"["any",["==",["zoom"],\#(number)],["==",["get","name"],"n\#(number)"]]"#
        default: #"["<",["interpolate",["linear"],["zoom"],0,0,6,9],["get","size"]]"#
        }
    }

    @Test(
        "show at each zoom the features that pass a filter of the zoom, as GetTile does",
        arguments: [
            "{}", #"{"maxZoom":2}"#, #"{"minZoom":2,"maxZoom":4,"radius":150}"#,
            #"{"sortKey":["get","name"],"clusterIds":"origin","clusterProperties":{"size":["+",["get","size"]]}}"#,
        ], 1...3)
    func zoomFilters(_ options: String, seed: UInt32) throws {
        let (test, folder) = (try Self.source(points: 600, options: options, seed: seed), try Folder())
        var random = PythonRandom(seed: seed)
        for _ in 0..<2 {
            let text = Self.zoomFilter(&random)
            let filter = QueryFilter(try JSONReader.parse(text))
            let revision = test.source.revision
            var seen: [ArchiveProgress] = []
            let (summary, archive) = try Self.publish(
                test, to: folder, ArchiveRequest(zooms: 0...4, layer: "a"), filter: text, overwrite: true
            ) { seen.append($0) }
            let found = try Self.compare(archive, with: revision, zooms: 0...4, layer: "a", filter: filter)
            #expect(found == summary.tiles, "\(text)")
            #expect(seen.allSatisfy { $0.ofTiles == summary.tiles }, "\(text)")
            #expect(seen.last?.tiles == summary.tiles)
            // All features that any zoom shows, and no other.
            let members = try [0.0, 1, 2, 3, 4].map { try revision.view(filter, zoom: $0, .never) }
            let isWhole = members.contains { $0.members == nil }
            let rows = Set(isWhole ? (0..<600).map { UInt32($0) } : members.flatMap { $0.members ?? [] })
            var box: Box?
            for row in rows { box = box ?? .nowhere; box?.include(revision.store.coordinates(Int(row))) }
            #expect(summary.bounds == box, "\(text)")
            let metadata = String(decoding: try archive.metadata(), as: UTF8.self)
            #expect(metadata.contains(#""layer":"a","count":\#(rows.count),"#), "\(text)")
        }
    }

    @Test("list the fields of all zooms, if the filter depends on the zoom") func fieldsOfZooms() throws {
        let (test, folder) = (try TestSource(), try Folder())
        let points = (0..<6).map { zoom in
            #"{"type":"Feature","id":\#(zoom),"properties":{"at":\#(zoom),"p\#(zoom)":true},"geometry":{"type":"Point","coordinates":[\#(zoom * 10),5]}}"#
        }
        try test.load("[" + points.joined(separator: ",") + "]")
        let text = #"["==",["get","at"],["zoom"]]"#
        let (summary, archive) = try Self.publish(
            test, to: folder, ArchiveRequest(zooms: 1...4, layer: "a"), filter: text)
        #expect(summary.bounds == Box(west: 10, south: 5, east: 40, north: 5))
        let metadata = String(decoding: try archive.metadata(), as: UTF8.self)
        for zoom in 0..<6 {
            #expect(metadata.contains(#""p\#(zoom)":"Boolean""#) == (1...4).contains(zoom))
        }
        #expect(metadata.contains(#""min":1,"max":4"#))
        #expect(metadata.contains(#""layer":"a","count":4,"#))
        let revision = test.source.revision
        let filter = QueryFilter(try JSONReader.parse(text))
        let fields = try revision.fields(of: filter, zooms: 1...4, threads: 1, .never)
        #expect(Set(fields.keys).isSuperset(of: ["at", "p1", "p4"]))
        #expect(fields["p5"] == nil)
    }

    @Test(
        "leave no file behind when they are cancelled at any point", arguments: [0, 1, 5, 40, 300],
        [nil, #"["<",["get","size"],["+",2,["zoom"]]]"#])
    func cancellation(_ looks: Int, filter: String?) throws {
        let (test, folder) = (try Self.source(points: 4000), try Folder())
        let asked = OutcomeCounts()
        let cancellation = Cancellation {
            asked.count(true)
            return asked.counts.yes > looks
        }
        #expect(throws: ArchiveError.self) {
            try Self.publish(
                test, to: folder, ArchiveRequest(zooms: 0...8, layer: "a"), filter: filter, threads: 1, cancellation)
        }
        #expect(folder.names.isEmpty)
    }

    @Test("dividing a source into batches asks at each whether it is cancelled, and then stops")
    func cancelledDivision() throws {
        let index = try Self.source(points: 20_000).source.revision.view.index
        func divide(after looks: Int) throws -> (batches: Int, asked: Int) {
            let asked = OutcomeCounts()
            let cancellation = Cancellation {
                asked.count(true)
                return asked.counts.yes > looks
            }
            var batches: [TileBatch] = []
            do { batches = try TileBatch.all(index, zooms: 8...12, cancellation) } catch ArchiveError
                .cancelled
            {}
            return (batches.count, asked.counts.yes)
        }
        let whole = try divide(after: .max)
        #expect(whole.batches > 50)
        #expect(whole.asked >= whole.batches)
        for looks in [0, 1, 7, whole.asked - 1] {
            let cancelled = try divide(after: looks)
            #expect(cancelled.batches == 0)
            #expect(cancelled.asked == looks + 1)
        }
    }

    @Test("report all their tiles at the end, and never more than there are") func progress() throws {
        let (test, folder) = (try Self.source(points: 5000), try Folder())
        var seen: [ArchiveProgress] = []
        let summary = try Self.publish(test, to: folder, ArchiveRequest(zooms: 0...8, layer: "a")) {
            seen.append($0)
        }.summary
        #expect(seen.first?.tiles == 0)
        #expect(seen.last?.tiles == summary.tiles)
        #expect(seen.allSatisfy { $0.ofTiles == summary.tiles && $0.tiles <= $0.ofTiles })
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.tiles <= $1.tiles && $0.bytes <= $1.bytes })
    }

    @Test("of sources without points have no tiles") func empty() throws {
        let (test, folder) = (try TestSource(), try Folder())
        try test.load("[]")
        let (summary, archive) = try Self.publish(test, to: folder, ArchiveRequest(zooms: 0...3, layer: "a"))
        #expect(summary.tiles == 0)
        #expect(summary.bounds == nil)
        #expect(try archive.tiles().isEmpty)
    }

    @Test("are written only below the allowed directories") func directories() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.path + "/in/below", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/in/out", withDestinationPath: folder.path)
        let allowed = ExportDirectories([folder.path + "/in"])
        for path in ["a.pmtiles", "below/a.pmtiles", folder.path + "/in/below/a.pmtiles"] {
            #expect(throws: Never.self) { try allowed.target(path, overwrite: false) }
        }
        for path in [
            "", "../a.pmtiles", "out/a.pmtiles", "/etc/a.pmtiles", "below/../../a", "a/", folder.path + "/a",
            folder.path + "/in", "missing/a", "below", "a\0b", folder.path + "/input",
        ] {
            #expect(throws: ArchiveError.self, "\(path)") { try allowed.target(path, overwrite: true) }
        }
        #expect(throws: ArchiveError.self) {
            try ExportDirectories([]).target("a.pmtiles", overwrite: false)
        }
    }
}
