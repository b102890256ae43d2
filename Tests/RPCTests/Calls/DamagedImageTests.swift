// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import JSON
import Responses
import SourceTestSupport
import Testing

@testable import RPC
@testable import SourceEngine

/// Whatever byte of a snapshot is changed, every method gives the right answer or says that data are damaged.
@Suite("Calls on damaged images") struct DamagedImageTests {
    private final class Subject {
        let kept: KeptSources
        /// The source's files.
        private let files: [String: Data]
        private var queries: [(method: String, params: JSONObject)] = []
        /// The answers to the queries, before and after `change`.
        private var truths: [[String]] = []

        init(_ options: String) throws {
            kept = try KeptSources(isQuick: true, isOnDemand: true)
            let indexed = #""indexedProperties":{"n":["get","n"]}}"#
            let all = options == "{}" ? "{" + indexed : options.dropLast() + "," + indexed
            try kept.create(options: all).load(towns(3000))
            let kept = kept
            kept.wait()
            files = try Dictionary(
                uniqueKeysWithValues: kept.files().map {
                    ($0, try Data(contentsOf: URL(fileURLWithPath: kept.file($0))))
                })
            queries = try Self.queries(on: kept)
            try kept.restart()
            truths.append(try ask().map { try $0.get() })
            _ = try change().get()
            truths.append(try ask().map { try $0.get() })
        }

        private static let archive = "a.pmtiles"

        private static func queries(on kept: KeptSources) throws -> [(method: String, params: JSONObject)] {
            let world: JSONValue = [-180, -85, 180, 85]
            let filter: JSONValue = [">", ["get", "n"], 4]
            var queries: [(String, JSONObject)] = [
                ("SourceService/GetSource", [:]), ("SourceService/GetFeatures", [:]),
                ("ClusterService/GetClusters", ["bbox": world, "zoom": 3, "filter": filter]),
                ("ClusterService/LocateFeature", ["featureId": 77, "zoom": 5]),
                ("ClusterService/GetClusters", ["bbox": world, "zoom": 3, "window": ["n": [2, 6]]]),
                ("ClusterService/TopFeatures", ["bbox": [10, 0, 90, 30], "by": "n", "limit": 50]),
                ("ClusterService/GetHistogram", ["bbox": [10, 0, 90, 30], "property": "n", "bins": 5]),
            ]
            for zoom in [0, 2, 5, 9, 16, 17] {
                queries.append(
                    (
                        "ClusterService/GetClusters",
                        ["bbox": world, "zoom": .number(Double(zoom)), "include": ["expansionZoom"]]
                    ))
            }
            for zoom in [0, 1, 4] {
                let column = Double((1 << zoom) / 2)
                queries.append(
                    (
                        "ClusterService/GetTile",
                        ["z": .number(Double(zoom)), "x": .number(column), "y": .number(column)]
                    ))
            }
            queries.append(("ClusterService/WatchClusters", ["bbox": world, "zoom": 4]))
            for resolution in [2, 14] {
                queries.append(
                    ("ClusterService/GetGrid", ["bbox": world, "resolution": .number(Double(resolution))]))
            }
            queries.append(("ClusterService/GetTile", ["z": 0, "x": 0, "y": 0, "grid": 6]))
            queries.append(
                (
                    "SourceService/PublishTiles",
                    ["path": .string(Self.archive), "overwrite": true, "minZoom": 0, "maxZoom": 2]
                ))
            let clusters = try Self.answer("ClusterService/GetClusters", ["bbox": world, "zoom": 3], kept).get()
            let features = try JSONReader.parse(clusters)["features"]?.array ?? []
            for id in features.prefix(4).compactMap({ $0["properties"]?["cluster_id"] }) {
                for method in MethodDeclaration.all where method.takes(.clusterID) {
                    queries.append((method.shortName, ["clusterId": id]))
                }
            }
            try #require(queries.count > 20)
            let asked = Set(queries.map(\.0))
            for method in MethodDeclaration.all where method.right == .query && method.takes(.source) {
                #expect(asked.contains(method.shortName), "no query calls \(method.name)")
            }
            return queries
        }

        /// Calls a method, and waits for the answer.
        /// Of a watch the first item, and of an archive also its content.
        private static func answer(
            _ method: String, _ params: JSONObject, _ kept: KeptSources
        ) throws -> Result<String, RPCError> {
            let (loop, answers) = (HandLoop(), KeptAnswers())
            let caller = try Caller(
                on: kept.registry, loop: loop, answers: answers, exports: ExportDirectories([kept.path]))
            caller.open(method, params, id: 1, answers: answers)
            loop.step()
            let error = answers.errors.first
            if error == nil, method.hasSuffix("/WatchClusters") {
                #expect(!answers.items.isEmpty, "the watch has no item")
                caller.receiveCancel(for: 1)
            }
            #expect(caller.openCalls == 0, "\(method) does not end")
            if let error { return .failure(error) }
            var text = (answers.items + answers.answers).joined(separator: "\n")
            if method.hasSuffix("/PublishTiles") {
                text += try Data(contentsOf: URL(fileURLWithPath: kept.path + "/" + archive)).base64EncodedString()
            }
            return .success(
                text.replacingOccurrences(
                    of: #""(revision|updatedAt|buildMs|memoryBytes|fileBytes|indexFileBytes)":("[^"]*"|[0-9.]+)"#,
                    with: #""$1":0"#, options: .regularExpression))
        }

        private func ask() throws -> [Result<String, RPCError>] {
            try queries.map { try Self.answer($0.method, $0.params, kept) }
        }

        private func change() throws -> Result<String, RPCError> {
            let upsert = try JSONReader.parse(towns(3, from: 2999))
            return try Self.answer("SourceService/UpdateFeatures", ["upsert": upsert, "remove": [5, 6]], kept)
        }

        /// How many answers were right, and how many said that data are damaged.
        var outcome = (right: 0, lost: 0)

        /// Restarts on the files, of which a byte of the snapshot is another one, and asks everything.
        func check(flipping offset: Int) throws {
            try kept.restart {
                for name in try kept.files() { unlink(kept.file(name)) }
                for (name, content) in files {
                    var content = content
                    if name == "2.snapshot" { content[offset] ^= UInt8(1 << (offset % 8)) }
                    try content.write(to: URL(fileURLWithPath: kept.file(name)))
                }
            }
            try compare(truths[0], "byte \(offset)")
            switch try change() {
            case .success: try compare(truths[1], "byte \(offset), after a change")
            case .failure(let error): #expect(error.code == .dataLoss, "byte \(offset): \(error)")
            }
        }

        private func compare(_ truth: [String], _ what: String) throws {
            for (number, query) in queries.enumerated() {
                switch try Self.answer(query.method, query.params, kept) {
                case .success(let answer) where query.method == "SourceService/GetSource":
                    // It describes damage.
                    if answer == truth[number] { outcome.right += 1 }
                case .success(let answer):
                    #expect(answer == truth[number], "\(what): \(query)")
                    outcome.right += 1
                case .failure(let error):
                    #expect(error.code == .dataLoss, "\(what): \(query): \(error)")
                    outcome.lost += 1
                }
            }
        }

        var snapshotBytes: Int { files["2.snapshot"]?.count ?? 0 }
    }

    @Test(
        "every 4,096th byte changed",
        arguments: [
            "{}",
            #"{"sortKey":["-",0,["get","n"]],"clusterIds":"origin","clusterProperties":{"sum":["+",["get","n"]],"median":["median",["get","n"]]}}"#,
            #"{"partitionBy":["get","kind"],"weight":["+",1,["get","n"]],"generateId":true}"#,
        ])
    func flips(_ options: String) throws {
        let subject = try Subject(options)
        for offset in stride(from: 0, to: subject.snapshotBytes, by: 4096) {
            try subject.check(flipping: offset)
            // Another bit and byte of each page, since the first byte of a page is often that of a table's head.
            if offset % 16_384 == 0 { try subject.check(flipping: offset + 1001) }
        }
        #expect(subject.outcome.right > 0)
        #expect(subject.outcome.lost > 0)
    }
}
