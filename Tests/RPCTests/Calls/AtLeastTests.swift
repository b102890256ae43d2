// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import ReplicationLog
import SourceTestSupport
import SystemSupport
import Testing

@testable import Responses
@testable import RPC
@testable import SourceEngine

/// Queries that wait for a position of the log that their source follows.
@Suite("At least") struct AtLeastTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let test: TestSource
    private let caller: Caller
    private var source: Source { test.source }

    init() throws {
        test = try TestSource(options: #"{"sortKey":["id"]}"#)
        caller = try Caller(on: test, loop: loop, answers: answers)
        source.replication = ReplicationStatus(table: "the table t", state: .following)
    }

    private func mark(_ position: UInt64) -> LogMark {
        LogMark(position: LogPosition(rawValue: position).description)
    }

    private func copy(at position: UInt64) throws {
        let load = FeatureImport(into: source, mode: .replace, policy: .skip, allowsEmpty: true)
        try load.add(list(point(1, 0, 0)))
        _ = try load.finish(.never, following: FollowedLog(origin: .table("t"), mark: mark(position)))
    }

    private func follow(to position: UInt64, _ features: String...) throws {
        _ = try source.follow(to: mark(position), .never) { (step) throws(SourceError) in
            let text = "[\(features.joined(separator: ","))]"
            try step.add(LogChanges(upserts: Array(text.utf8), removals: []))
        }
        loop.step()
    }

    private func open(_ method: String, _ params: JSONObject, id: Int64 = 1, timeout: Int64? = nil) {
        caller.open(method, params, id: id, timeout: timeout, answers: answers)
        loop.step()
    }

    private static let world: JSONObject = ["bbox": [-180, -90, 180, 90], "zoom": 20]

    private func world(atLeast position: String) -> JSONObject {
        var params = Self.world
        params["atLeast"] = .string(position)
        return params
    }

    @Test("a query is answered once its source has the position") func waits() throws {
        try copy(at: 0x10)
        open("ClusterService/GetClusters", world(atLeast: "0/20"))
        #expect(answers.answers.isEmpty)
        #expect(answers.errors.isEmpty)
        try follow(to: 0x18, point(2, 10, 10))
        #expect(answers.answers.isEmpty)
        try follow(to: 0x20, point(3, 20, 20))
        let answer = try #require(answers.answers.first)
        #expect(answer.contains("\"id\":3"))
        #expect(answer.hasSuffix(",\"position\":\"0/20\"}"))
        #expect(caller.openCalls == 0)
    }

    @Test("a position that the source has already, or reaches without changes, needs no wait") func reached() throws {
        try copy(at: 0x10)
        open("ClusterService/GetClusters", world(atLeast: "0/10"))
        #expect(answers.answers.count == 1)
        open("ClusterService/GetClusterExpansionZoom", ["clusterId": 5, "atLeast": "0/30"], id: 2)
        open("ClusterService/GetTile", ["z": 0, "x": 0, "y": 0, "atLeast": "0/30"], id: 3)
        source.follow(upTo: mark(0x30)) { _ in true }
        loop.step()
        #expect(answers.answers.count == 2)
        #expect(answers.answers.last?.contains("\"position\":\"0/30\"") == true)
        #expect(answers.errors.map(\.code) == [.notFound])
    }

    @Test("a position reached just before the wait is looked for is in the answer") func reachedMeanwhile() throws {
        try copy(at: 0x10)
        let (source, mark) = (source, mark(0x20))
        let caller = try Caller(on: test.registry, loop: loop, answers: answers) {
            _ = try? source.follow(to: mark, .never) { (step) throws(SourceError) in
                try step.add(LogChanges(upserts: Array("[\(point(2, 10, 10))]".utf8), removals: []))
            }
        }
        caller.open("ClusterService/GetClusters", world(atLeast: "0/20"), id: 1, answers: answers)
        #expect(answers.errors.isEmpty)
        #expect(answers.answers.first?.contains("\"id\":2") == true)
        #expect(answers.answers.first?.hasSuffix(",\"position\":\"0/20\"}") == true)
    }

    @Test(
        "a query that need not wait is answered from the source that has the position, whatever takes its name",
        arguments: ["ClusterService/GetClusters", "ClusterService/WatchClusters", "SourceService/GetFeatures"])
    func replacedMeanwhile(_ method: String) throws {
        try copy(at: 0x20)
        let registry = test.registry
        let caller = try Caller(on: registry, loop: loop, answers: answers) {
        } found: {
            guard let name = SourceName("test") else { return }
            try? registry.delete(name)
            _ = try? registry.create(name, options: SourceOptions())
        }
        let listing: JSONObject = ["atLeast": "0/20"]
        caller.open(method, method.hasSuffix("GetFeatures") ? listing : world(atLeast: "0/20"), id: 1, answers: answers)
        loop.step()
        let text = (answers.items + answers.answers).joined()
        #expect(text.contains("\"id\":1") || answers.errors.map(\.code) == [.notFound])
    }

    @Test("a query waits for a source's first copy") func firstCopy() throws {
        open("ClusterService/GetClusters", world(atLeast: "0/1"))
        #expect(answers.answers.isEmpty)
        #expect(answers.errors.isEmpty)
        try copy(at: 0x10)
        loop.step()
        #expect(answers.answers.count == 1)
    }

    @Test("waiting ends with a cancel, the deadline, the source's deletion or the connection's end")
    func ends() throws {
        try copy(at: 0x10)
        open("ClusterService/GetClusters", world(atLeast: "1/0"), id: 1)
        caller.receiveCancel(for: 1)
        #expect(answers.errors.map(\.code) == [.cancelled])
        open("ClusterService/GetClusters", world(atLeast: "1/0"), id: 2, timeout: 0)
        for timer in loop.timers { timer() }
        #expect(answers.errors.map(\.code) == [.cancelled, .deadlineExceeded])
        open("ClusterService/WatchClusters", world(atLeast: "1/0"), id: 3)
        try test.registry.delete(source.name)
        loop.step()
        #expect(answers.errors.map(\.code) == [.cancelled, .deadlineExceeded, .notFound])
        #expect(caller.openCalls == 0)
    }

    @Test("a watch begins at the position, with the viewport that was sent last") func watch() throws {
        try copy(at: 0x10)
        open("ClusterService/WatchClusters", world(atLeast: "0/20"))
        caller.receive(item: Array(#"{"bbox":[5,5,15,15],"zoom":20}"#.utf8), for: 1)
        loop.step()
        #expect(answers.items.isEmpty)
        try follow(to: 0x20, point(2, 10, 10))
        #expect(answers.items.count == 1)
        let item = try #require(answers.items.first)
        #expect(item.contains("\"id\":2"))
        #expect(!item.contains("\"id\":1"))
        #expect(item.contains("\"position\":\"0/20\""))
        caller.receiveCancel(for: 1)
    }

    @Test(
        "an invalid position is an invalid param",
        arguments: [.string("0"), .string("x/y"), .string(""), .number(5), .null] as [JSONValue])
    func invalid(_ position: JSONValue) throws {
        try copy(at: 0x10)
        var params = Self.world
        params["atLeast"] = position
        open("ClusterService/GetClusters", params)
        #expect(answers.errors.map(\.code) == [.invalidArgument])
        #expect(answers.errors.first?.message.contains("params.atLeast") == true)
    }

    @Test("a source that follows no table has no positions to wait for") func noTable() throws {
        source.replication = nil
        try test.load(list(point(1, 0, 0)))
        open("ClusterService/GetClusters", world(atLeast: "0/1"))
        #expect(answers.errors.map(\.code) == [.failedPrecondition])
        #expect(answers.errors.first?.message.contains("does not follow a table") == true)
    }

    @Test(
        "only its feed changes a source that follows a table",
        arguments: [
            ("UpdateFeatures", ["upsert": []]), ("UpdateOptions", ["options": [:]]), ("DeleteSource", [:]),
            ("ImportFeatures", [:]), ("LoadFile", ["path": "x.json"]),
        ] as [(String, JSONObject)])
    func readOnly(_ method: String, _ params: JSONObject) throws {
        open("SourceService/\(method)", params)
        #expect(answers.errors.map(\.code) == [.failedPrecondition])
        #expect(answers.errors.first?.message.contains("the table t") == true)
    }
}
