// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import JSON
import Responses
import SourceTestSupport
import TestSupport
import Testing
import Transports
import TypedContract

@testable import RPC
@testable import SourceEngine

/// Every method, called by somebody who may see only some features, answers as if there were no others.
@Suite("Calls under rules of access") struct RestrictedCallTests {
    /// What nothing that such a caller gets may contain.
    private static let secret = "zebra"
    private static let filter: JSONValue = ["==", ["get", "tenant"], ["claim", "uid"]]
    private static let tenant = Identity(Peer(processID: 1, userID: 1000, groupID: 1000), right: .manage)
    private static let stranger = Identity(Peer(processID: 1, userID: 2000, groupID: 2000), right: .manage)

    private static func rule(
        _ source: String, user: UInt32 = 1000, filter: JSONValue? = filter, minCount: Int = 0
    ) -> AccessRule {
        var rule = AccessRule()
        rule.sources = [source]
        rule.callers = AccessPolicy.Rule(users: [user])
        (rule.filter, rule.minCount) = (filter, minCount)
        return rule
    }

    /// A daemon with sources, and what it answers.
    private struct Server {
        let registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 64 << 20, buildThreads: 1))
        let folder = FileManager.default.temporaryDirectory.path + "/clusterd-rules-\(UUID().uuidString.prefix(8))"
        var access = AccessPolicy()

        init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

        func load(_ name: String, _ features: [String], options: String) throws {
            let options = try SourceOptions(reading: JSONReader.parse(options))
            let source = try registry.create(#require(SourceName(name)), options: options)
            let load = FeatureImport(into: source, mode: .replace, policy: .reject)
            try load.add("[\(features.joined(separator: ","))]")
            _ = try load.finish(.never)
        }

        /// Everything that a call gives, with numbers of revisions and times as 0. An archive is part of it.
        func answer(
            _ method: MethodDeclaration, _ params: JSONObject, by caller: Identity, isProtobuf: Bool = false
        ) throws -> String {
            let (loop, answers) = (HandLoop(), KeptAnswers())
            let own = try Caller(
                on: registry, loop: loop, answers: answers, access: access, exports: ExportDirectories([folder]))
            var bytes = ByteWriter()
            let request = CallRequest(id: 1, method: method.fullName, params: params)
            do throws(RPCError) {
                if isProtobuf, let typed = TypedMethod.named(method.fullName) {
                    let encoder = TypedAnswerEncoder(
                        typed, of: own.engine.methods, structProperties: false, isJSON: true, .none, compression: nil)
                    if try own.open(request, by: caller, as: encoder, into: &bytes) == nil {
                        answers.answerBytes.append(bytes.bytes)
                    }
                } else if try own.open(request, by: caller, as: BareEncoder(), into: &bytes) == nil {
                    answers.answerBytes.append(bytes.bytes)
                }
            } catch { answers.errors.append(error) }
            if method.kind == .clientStream, answers.errors.isEmpty { own.receiveEnd(for: 1) }
            loop.step()
            if own.openCalls > 0 { own.receiveCancel(for: 1) }
            var text = (answers.items + answers.answers).joined(separator: "\n")
            text += answers.errors.filter { $0.code != .cancelled }.map {
                "\($0) \($0.details.map { JSONValue.object($0).text } ?? "")"
            }
            .joined()
            let archive = folder + "/a.pmtiles"
            if let content = FileManager.default.contents(atPath: archive) {
                text += String(decoding: content, as: UTF8.self)
                try FileManager.default.removeItem(atPath: archive)
            }
            return text.replacingOccurrences(
                of: #""(revision|createdAt|updatedAt)":("[^"]*"|[0-9]+)"#, with: #""$1":0"#,
                options: .regularExpression)
        }
    }

    /// A filter that is as long as one may be, by itself.
    private static let longest: JSONValue = .array(
        [.string("any")] + (0..<1000).map { [">", ["get", "n"], .number(Double($0))] as JSONValue })

    /// The params of calls of a method on a source; nil for a method that is not known here.
    private static func calls(
        of method: MethodDeclaration, on source: String, _ ids: [JSONValue], _ random: inout SeededRandom
    ) -> [JSONObject]? {
        let world: JSONValue = [-180, -85, 180, 85]
        let zoom = JSONValue.number(Double(Int.random(in: 0...18, using: &random)))
        let filters: [JSONValue?] = [
            nil, [">", ["get", "n"], 20], ["==", ["get", "tenant"], 1001], ["==", ["get", "name"], "zebra 3"],
            ["<", ["get", "n"], ["*", 3, ["zoom"]]], ["==", "tenant", 1001], [">", ["get", "nosuch"], 1],
            ["in", "zebra", ["get", "name"]], longest,
        ]
        func params(_ members: JSONObject) -> JSONObject {
            var params = members
            params["source"] = .string(source)
            if method.takes(.filter), let filter = filters.randomElement(using: &random) ?? nil {
                params["filter"] = filter
            }
            if method.takes(.zoomOfCluster) { params["zoom"] = zoom }
            return params
        }
        switch method.name {
        case "GetClusters", "WatchClusters":
            return [
                params(["bbox": world, "zoom": zoom]),
                params(["bbox": world, "zoom": zoom, "include": ["expansionZoom", "coincident"]]),
                params(["bbox": world, "zoom": zoom, "include": ["hull", "bbox", "anchor", "spider"]]),
                params(["bbox": [100, 50, 120, 60], "zoom": zoom, "limit": 3]),
                params(["bbox": [-10, 50, -120, 40], "zoom": 2]),
                params(["bbox": world, "zoom": zoom, "window": ["n": [5, 40]]]),
                params(["bbox": world, "zoom": zoom, "pin": [1, 2, 3, 4, 5, 6, 7, 8]]),
                params(["bbox": world, "zoom": zoom, "include": ["top"], "topBy": "n"]),
                params(["bbox": world, "zoom": zoom, "include": ["key"]]),
                params(
                    method.takes(.transitions)
                        ? ["bbox": world, "zoom": 0, "transitions": true] : ["bbox": world, "zoom": 0]),
            ]
        case "GetTile":
            return [
                params(["z": 0, "x": 0, "y": 0]), params(["z": 2, "x": 2, "y": 1, "encoding": "mvt"]),
                params(["z": 1, "x": 1, "y": 0, "window": ["n": [5, 40]]]),
                params(["z": 0, "x": 0, "y": 0, "grid": 4]),
                params(["z": 0, "x": 0, "y": 0, "grid": 3, "encoding": "mvt"]),
            ]
        case "GetChildren", "GetClusterExpansionZoom", "GetConvexHull":
            return ids.map { params(["clusterId": $0]) }
        case "GetLeaves": return ids.map { params(["clusterId": $0, "limit": 0]) }
        case "TopFeatures":
            return [
                params(["bbox": world, "by": "n", "limit": 1000]),
                params(["bbox": world, "by": "-n", "limit": 7, "window": ["m": [3, 9]]]),
                params(["bbox": world, "by": "x"]),
            ]
        case "GetHistogram":
            return [
                params(["bbox": world, "property": "n", "bins": 7]),
                params(["bbox": world, "property": "n", "edges": [-1, 10, 25, 30], "window": ["m": [0, 5]]]),
            ]
        case "GetGrid":
            return [
                params(["bbox": world, "resolution": 2]),
                params(["bbox": world, "resolution": 7, "window": ["n": [5, 40]]]),
            ]
        case "LocateFeature":
            return (0..<12).map { params(["featureId": .number(Double($0 * 7)), "zoom": zoom]) }
        case "DescribeTiles": return [params(["tiles": "http://localhost/{z}/{x}/{y}"])]
        case "GetFeatures", "GetSource", "ImportFeatures", "DeleteSource": return [params([:])]
        case "PublishTiles": return [params(["path": "a.pmtiles", "maxZoom": 3]), params(["estimate": true])]
        case "LoadFile": return [params(["path": "/nosuch"])]
        case "UpdateFeatures": return [params(["remove": [1]])]
        case "UpdateOptions": return [params(["options": ["radius": 60]])]
        case "ApplyChanges": return [params(["log": "a"])]
        case "CreateSource": return [params([:])]
        case "ExplainAccess": return [params(["token": "a.b.c"])]
        default: return nil
        }
    }

    /// - Parameter ids: how many ids the features share.
    private static func features(
        _ random: inout SeededRandom, count: Int, ids: Int = .max
    ) -> (all: [String], seen: [String]) {
        var (all, seen): ([String], [String]) = ([], [])
        for id in 0..<count {
            let isSeen = Bool.random(using: &random)
            let longitude = Double(Int.random(in: -1700...1700, using: &random)) / 10
            let latitude = Double(Int.random(in: -800...800, using: &random)) / 10
            let name = isSeen ? "\"name\":\"lion \(id)\"" : "\"name\":\"zebra \(id)\",\"zebra\":\(id)"
            let feature = """
                {"type":"Feature","id":\(id % ids),"geometry":{"type":"Point","coordinates":[\(longitude),\(latitude)]},\
                "properties":{"tenant":\(isSeen ? 1000 : 1001),"n":\(id % 50),\(name)}}
                """
            all.append(feature)
            if isSeen { seen.append(feature) }
        }
        return (all, seen)
    }

    private static let indexed = #""indexedProperties":{"n":["get","n"],"m":["%",["get","n"],11]}"#
    private static let options = [
        "{\(indexed)}",
        #"{\#(indexed),"clusterProperties":{"sum":["+",["get","n"]],"most":["max",["get","n"]]},"minPoints":3}"#,
        #"{\#(indexed),"sortKey":["get","n"],"partitionBy":["get","n"]}"#,
        #"{"weight":["+",1,["get","n"]],"maxZoom":5,"radius":80}"#,
        #"{\#(indexed),"clusterIds":"origin","views":{"same":{"filter":["==",["get","tenant"],1000]}}}"#,
    ]

    /// Ids of clusters of a source, and others.
    private static func ids(_ answer: String) throws -> [JSONValue] {
        let features = try JSONReader.parse(answer)["features"]?.array ?? []
        return features.prefix(5).compactMap { $0["properties"]?["cluster_id"] }
            + [1, 33, 65, 97, 10_000, 1_000_000].map { JSONValue.number($0) }
    }

    @Test(
        "answers are those of a daemon that has only the features that the caller sees", arguments: options, [1, 2, 3])
    func asIfThereWereNoOthers(options: String, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // Tenants may have the same ids.
        let features = Self.features(&random, count: 300, ids: seed == 3 ? 11 : .max)
        var (whole, part) = (try Server(), try Server())
        defer { for server in [whole, part] { try? FileManager.default.removeItem(atPath: server.folder) } }
        whole.access.rules = [Self.rule("test"), Self.rule("hidden*", user: 3000)]
        for name in ["test", "hidden", "hidden-zebra"] {
            try whole.load(name, name == "test" ? features.all : [features.all[0]], options: options)
        }
        try part.load("test", features.seen, options: options)
        let clusters = try part.answer(
            .getClusters, ["source": "test", "bbox": [-180, -85, 180, 85], "zoom": 2], by: Self.tenant)
        let ids = try Self.ids(clusters)
        for method in MethodDeclaration.all + [.describeTiles, .explainAccess]
        where method.takes(.source) || method.takes(.newSource) {
            // A source of the third name could be made.
            for source in ["test", "hidden", "hidden-zebr", "hiden"]
            where method.name != "CreateSource" || source != "hiden" {
                let calls = try #require(
                    Self.calls(of: method, on: source, ids, &random), "how is \(method.name) called?")
                for params in calls {
                    for isProtobuf in [false, true] {
                        let got = try whole.answer(method, params, by: Self.tenant, isProtobuf: isProtobuf)
                        let isRead = !method.isChange || method.name == "PublishTiles"
                        let expected =
                            isRead
                            ? try part.answer(method, params, by: Self.tenant, isProtobuf: isProtobuf) : ""
                        check(got, expected, method, params)
                    }
                }
            }
        }
    }

    private func check(_ got: String, _ expected: String, _ method: MethodDeclaration, _ params: JSONObject) {
        let what = "\(method.name) \(JSONValue.object(params).text)"
        let isAsked = JSONValue.object(params).text.contains(Self.secret)
        if !isAsked { #expect(!got.contains(Self.secret), "\(what): \(got)") }
        if method.isChange, method.name != "PublishTiles" {
            #expect(got.contains("PERMISSION_DENIED") || got.contains("NOT_FOUND"), "\(what): \(got)")
            return
        }
        switch method.name {
        case "GetSource":
            for name in ["memoryBytes", "fileBytes", "buildMs", "indexBytesPerPoint"] {
                #expect(!got.contains("\"\(name)\""), "\(what): \(got)")
            }
            if expected.contains("NOT_FOUND") { return #expect(got == expected, "\(what)") }
            guard !got.contains("\"points\":\"") else { return }
            let (got, expected) = (try? JSONReader.parse(got), try? JSONReader.parse(expected))
            for name in ["points", "bbox", "options", "state"] { #expect(got?[name] == expected?[name], "\(what)") }
        case "GetClusters" where got.contains("warnings") || expected.contains("warnings"):
            // Only who sees everything gets advice about the data.
            #expect(Self.withoutAdvice(got) == Self.withoutAdvice(expected), "\(what)")
        case "PublishTiles":
            #expect(got.isEmpty == expected.isEmpty, "\(what)")
        default: #expect(got == expected, "\(what)")
        }
    }

    private static func withoutAdvice(_ text: String) -> String {
        text.replacingOccurrences(
            of: #""warnings":\[("([^"\\]|\\.)*",?)*\]"#, with: "", options: .regularExpression
        ).replacingOccurrences(of: ",,", with: ",").replacingOccurrences(of: "{,", with: "{")
    }

    @Test("lists, metrics and health name only what the caller sees") func lists() throws {
        var random = SeededRandom(seed: 9)
        let features = Self.features(&random, count: 100)
        var server = try Server()
        defer { try? FileManager.default.removeItem(atPath: server.folder) }
        server.access.rules = [
            Self.rule("test"), Self.rule("hidden*", user: 3000),
            Self.rule("claimed", filter: ["==", 1, ["claim", "x"]]),
        ]
        for name in ["test", "hidden-zebra", "claimed", "open"] {
            try server.load(name, name == "test" ? features.all : [features.all[0]], options: "{}")
        }
        for method in MethodDeclaration.all where !method.takes(.source) && !method.takes(.newSource) {
            for params in [[:], method.takes(.format) ? ["format": "prometheus"] : [:]] as [JSONObject] {
                let params = method.name == "EvaluateExpression" ? ["expression": ["+", 1, 1]] : params
                for (caller, names) in [(Self.tenant, ["test", "open"]), (Self.stranger, ["open"])] {
                    let text = try server.answer(method, params, by: caller)
                    #expect(!text.contains(Self.secret), "\(method.name): \(text)")
                    #expect(!text.contains("\"claimed\""), "\(method.name): \(text)")
                    guard method.name == "ListSources" else { continue }
                    let sources = try JSONReader.parse(text)["sources"]?.array ?? []
                    #expect(sources.compactMap { $0["source"]?.string }.sorted() == names.sorted())
                    guard caller === Self.tenant else { continue }
                    #expect(text.contains("\"points\":\(features.seen.count)"), "\(text)")
                }
            }
        }
        let metrics = try server.answer(.getStats, ["format": "prometheus"], by: Self.tenant)
        #expect(metrics.contains("clusterd_source_points{source=\\\"test\\\"} \(features.seen.count)\\n"), "\(metrics)")
        #expect(!metrics.contains("clusterd_source_memory_bytes{source=\\\"test\\\"}"))
        let denied = try server.answer(
            .getClusters, ["source": "claimed", "bbox": [0, 0, 1, 1], "zoom": 1], by: Self.tenant)
        #expect(denied.contains("PERMISSION_DENIED") && denied.contains("\"x\""), "\(denied)")
    }

    @Test("with minCount nothing shows fewer points", arguments: [1, 2, 3]) func minCount(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let features = Self.features(&random, count: 400)
        var server = try Server()
        defer { try? FileManager.default.removeItem(atPath: server.folder) }
        server.access.rules = [Self.rule("test", minCount: 5)]
        try server.load("test", features.all, options: #"{"radius":100,\#(Self.indexed)}"#)
        let world: JSONValue = [-180, -85, 180, 85]
        let all = try server.answer(.getClusters, ["source": "test", "bbox": world, "zoom": 1], by: Self.tenant)
        let ids = try Self.ids(all)
        var shown = 0
        for method in MethodDeclaration.all + [.describeTiles, .explainAccess] where method.takes(.source) {
            let calls = try (0..<6).flatMap { _ in
                try #require(Self.calls(of: method, on: "test", ids, &random), "how is \(method.name) called?")
            }
            for params in calls {
                let text = try server.answer(method, params, by: Self.tenant)
                let what = "\(method.name) \(JSONValue.object(params).text): \(text)"
                guard method.showsClustersOnly else {
                    #expect(text.contains("PERMISSION_DENIED"), "\(what)")
                    continue
                }
                if let details = params["include"]?.array, !Set(details).isDisjoint(with: ["hull", "top"]) {
                    #expect(text.contains("PERMISSION_DENIED"), "\(what)")
                }
                if params["pin"] != nil || params["bins"] != nil {
                    #expect(text.contains("PERMISSION_DENIED"), "\(what)")
                }
                if method.name == "GetHistogram", let answer = try? JSONReader.parse(text) {
                    let counts =
                        (answer["counts"]?.array ?? []) + ["below", "above", "missing"].compactMap { answer[$0] }
                    for count in counts.compactMap(\.number) { #expect(count == 0 || count >= 5, "\(what)") }
                }
                // Single points have names.
                #expect(!text.contains("lion"), "\(what)")
                for count in try counts(in: text) {
                    shown += 1
                    #expect(count >= 5, "\(what)")
                }
                if method.name == "GetSource" { #expect(text.contains("\"bbox\":null"), "\(what)") }
            }
        }
        #expect(shown > 10)
        // A limit counts what is shown.
        let page = try JSONReader.parse(
            try server.answer(
                .getClusters, ["source": "test", "bbox": world, "zoom": 2, "limit": 3], by: Self.tenant))
        #expect(page["features"]?.array?.count == 3)
    }

    @Test("with minCount no cluster shows from which feature it grew") func origins() throws {
        var random = SeededRandom(seed: 6)
        let features = Self.features(&random, count: 300)
        var server = try Server()
        defer { try? FileManager.default.removeItem(atPath: server.folder) }
        try server.load("test", features.seen, options: #"{"radius":100,"clusterIds":"origin"}"#)
        let params: JSONObject = ["source": "test", "bbox": [-180, -85, 180, 85], "zoom": 0, "include": ["key"]]
        func shown() throws -> (ids: Set<JSONValue>, keys: Set<JSONValue>) {
            let answer = try JSONReader.parse(try server.answer(.getClusters, params, by: Self.tenant))
            let features = answer["features"]?.array ?? []
            return (Set(features.compactMap { $0["id"] }), Set(features.compactMap { $0["key"] }))
        }
        let open = try shown()
        server.access.rules = [Self.rule("test", minCount: 2)]
        let restricted = try shown()
        #expect(restricted.ids.count > 3 && restricted.keys.count == restricted.ids.count)
        #expect(open.ids.isDisjoint(with: restricted.ids) && open.keys.isDisjoint(with: restricted.keys))
        #expect(try shown() == restricted, "keys stay as long as the daemon runs")
        for id in restricted.ids {
            let children = try server.answer(.getChildren, ["source": "test", "clusterId": id], by: Self.tenant)
            #expect(children.contains("FeatureCollection"), "\(children)")
        }
    }

    private func counts(in text: String) throws -> [Int] {
        let expression = try NSRegularExpression(pattern: #""point_count":([0-9]+)"#)
        return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
            Range(match.range(at: 1), in: text).flatMap { Int(text[$0]) }
        }
    }

    @Test("an open watch ends when its caller sees something else") func reload() throws {
        var random = SeededRandom(seed: 4)
        var server = try Server()
        defer { try? FileManager.default.removeItem(atPath: server.folder) }
        try server.load("test", Self.features(&random, count: 50).all, options: "{}")
        server.access.rules = [Self.rule("test")]
        let changes: [(rules: [AccessRule], code: StatusCode?)] = [
            ([Self.rule("test"), Self.rule("other")], nil), ([], .unavailable),
            ([Self.rule("test", filter: ["==", ["get", "tenant"], 1001])], .unavailable),
            ([Self.rule("test", user: 3000)], .notFound), ([Self.rule("test", minCount: 3)], .unavailable),
        ]
        for (rules, code) in changes {
            let (loop, answers) = (HandLoop(), KeptAnswers())
            let first = try Caller(on: server.registry, loop: loop, answers: answers, access: server.access)
            let caller = Caller(
                first.engine, peer: Self.tenant.peer, right: .manage, unread: first.unread, transport: answers)
            caller.open(
                "ClusterService/WatchClusters", ["bbox": [-180, -85, 180, 85], "zoom": 1], id: 1, answers: answers)
            loop.step()
            #expect(answers.items.count == 1)
            var access = server.access
            access.rules = rules
            first.engine.apply(limits: Limits(), access: access)
            caller.take(.manage)
            #expect(answers.errors.map(\.code) == (code.map { [$0] } ?? []), "\(rules.count)")
            caller.close()
        }
    }
}
