// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceTestSupport
import Synchronization
import Testing

@testable import RPC
@testable import SourceEngine

/// What the server holds for calls that wait: for the pool, their client, their source or the end of the server.
@Suite("Waiting calls") struct WaitingCallTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let test: TestSource
    private let caller: Caller
    private var load: ServerLoad { caller.engine.load }

    init() throws {
        test = try TestSource()
        try test.load(list(point(1, 0, 0, #"{"n":1}"#), point(2, 10, 10, #"{"n":2}"#)))
        caller = try Caller(on: test, loop: loop, answers: answers)
    }

    private func open(_ method: String, _ params: JSONObject = [:], id: Int64 = 1, timeout: Int64? = nil) {
        caller.open(method, params, id: id, timeout: timeout, answers: answers)
    }

    /// A watch whose changes are computed on the pool.
    ///
    /// - Parameter least: differs between watches that must not share the indexes of a filter.
    private func watch(_ least: Double = 0) -> JSONObject {
        ["bbox": [-180, -90, 180, 90], "zoom": 20, "filter": [">", ["get", "n"], .number(least)]]
    }

    @Test(
        "an unread item counts until it is sent or the call ends",
        arguments: [false, true])
    func unsentItem(isWatch: Bool) throws {
        for isSent in [false, true] {
            if isWatch {
                open("ClusterService/WatchClusters", watch(isSent ? 0 : -1))
            } else {
                open("SourceService/GetFeatures")
            }
            while load.unread.bytes == 0, loop.stepOnce() {}
            answers.canTakeItem = false
            loop.step()
            #expect(load.unread.bytes > 0)
            #expect(answers.items.isEmpty)
            answers.canTakeItem = true
            if isSent { caller.transportIsReady() } else { caller.receiveCancel(for: 1) }
            loop.step()
            #expect(load.unread.bytes == 0)
            #expect(answers.items.count == (isSent ? 1 : 0))
        }
    }

    @Test(
        "views of few features are answered at once, though there may be more in their box",
        arguments: [(2, nil, true), (20, 10, true), (20, 5000, false), (20, nil, false)] as [(Double, Double?, Bool)])
    func quickViews(zoom: Double, limit: Double?, isQuick: Bool) throws {
        let points = (0..<7000).map { point($0, Double($0 % 100) * 3.5 - 175, Double($0 / 100) * 2 - 70) }
        try test.load("[" + points.joined(separator: ",") + "]")
        loop.holdsWork = true
        var params: JSONObject = ["bbox": [-180, -85, 180, 85], "zoom": .number(zoom)]
        params["limit"] = limit.map { .number($0) }
        open("ClusterService/GetClusters", params)
        loop.step()
        #expect(loop.heldWork.count == (isQuick ? 0 : 1))
        loop.holdsWork = false
        loop.finishWork()
        #expect(answers.answers.count == 1 && answers.errors.isEmpty)
    }

    @Test("data that were replaced while a watcher's change was made are freed on the pool's thread")
    func replacedData() throws {
        loop.holdsWork = true
        open("ClusterService/WatchClusters", watch(-7))
        loop.step()
        #expect(loop.heldWork.count == 1 && loop.longWork == 0)
        weak let old = test.source.revision
        try test.load(list(point(3, 0, 0, #"{"n":5}"#)))
        #expect(old != nil, "the change reads it")
        // The loop takes the change in its next step.
        loop.finishWork()
        #expect(old == nil)
        loop.holdsWork = false
        loop.step()
        #expect(answers.items.count == 2)
    }

    @Test("data from which a watcher's transitions started are freed on the pool's thread") func startOfTransitions()
        throws
    {
        var params = watch(-8)
        params["transitions"] = true
        open("ClusterService/WatchClusters", params)
        loop.step()
        #expect(answers.items.count == 1)
        weak let old = test.source.revision
        try test.load(list(point(3, 0, 0, #"{"n":5}"#)))
        loop.holdsWork = true
        loop.step()
        loop.finishWork()
        loop.step()
        #expect(answers.items.count == 2)
        #expect(old != nil, "they wait for the pool")
        loop.finishWork()
        #expect(old == nil)
    }

    @Test("a waiting item is sent even if all clients together have too much unread") func waitingItem() throws {
        open("SourceService/GetFeatures")
        while load.unread.bytes == 0, loop.stepOnce() {}
        let claim = UnreadBudget.Claim(Limits().maxQueuedBytes, of: caller.unread, in: load.unread)
        loop.step()
        #expect(answers.items.count == 1)
        withExtendedLifetime(claim) {}
    }

    @Test("the jobs of a call that has ended leave the pool's queue") func endedCall() throws {
        caller.hold(true)
        for id in 1...2 { open("SourceService/GetFeatures", id: Int64(id)) }
        loop.step()
        #expect(load.queries.depth == 2)
        caller.receiveCancel(for: 1)
        #expect(load.queries.depth == 1)
        caller.hold(false)
        loop.step()
        #expect(answers.items.count == 1)
        #expect(answers.errors.map(\.code) == [.cancelled])
        #expect(load.queries.depth == 0)
    }

    @Test("a client that cancels calls has no more jobs than it may have calls", arguments: [false, true])
    func cancelledWork(byLimitOfUser: Bool) throws {
        var limits = Limits()
        limits.queryThreads = 8
        if byLimitOfUser { limits.maxCallsPerUser = 2 } else { limits.maxCallsPerConnection = 2 }
        let caller = try Caller(on: test, loop: loop, answers: answers, right: .query, limits: limits)
        loop.holdsWork = true
        for id in 1...10 as ClosedRange<Int64> {
            caller.open("ClusterService/GetClusters", watch(-Double(id)), id: id, answers: answers)
            loop.step()
            caller.receiveCancel(for: id)
        }
        #expect(loop.heldWork.count == 2)
        #expect(
            answers.errors.map(\.code) == [.cancelled, .cancelled] + Array(repeating: .resourceExhausted, count: 8))
        #expect(caller.engine.load.callsInFlight == 2)
        loop.holdsWork = false
        loop.finishWork()
        #expect(caller.engine.load.callsInFlight == 0)
        caller.open("ClusterService/GetClusters", watch(), id: 11, answers: answers)
        loop.step()
        #expect(answers.answers.count == 1)
    }

    @Test("an import that ends before its items are read leaves nothing", arguments: [false, true])
    func endedImport(isClosed: Bool) throws {
        load.changes.hold(caller.jobQueue(for: .change), true)
        open("SourceService/ImportFeatures")
        caller.receive(item: Array(#"{"features":[]}"#.utf8), for: 1)
        #expect(load.changes.depth == 1)
        #expect(load.streams.bytes > 0)
        if isClosed { caller.close() } else { caller.receiveCancel(for: 1) }
        #expect(load.changes.depth == 0)
        #expect(load.streams.bytes == 0)
        #expect(caller.openCalls == 0)
    }

    @Test("a connection whose imports stream more than may wait is not read until the pool has taken it")
    func streamedItems() throws {
        let jobQueue = caller.jobQueue(for: .change)
        load.changes.hold(jobQueue, true)
        open("SourceService/ImportFeatures")
        let item = Array(#"{"features":[]}"#.utf8) + [UInt8](repeating: 0x20, count: 1 << 20)
        while caller.inputBytes <= Limits().maxStreamBytes {
            #expect(!caller.isInputFull)
            caller.receive(item: item, for: 1)
        }
        #expect(caller.isInputFull)
        load.changes.hold(jobQueue, false)
        loop.step()
        #expect(caller.inputBytes == 0)
        #expect(!caller.isInputFull)
    }

    @Test("a user's next large message is read once the memory of the one before is given back")
    func largeMessages() throws {
        let other = Caller(
            caller.engine, peer: .unknown, right: .admin, unread: UnreadAccount(caller.share), transport: answers)
        let third = Caller(
            caller.engine, peer: .unknown, right: .admin, unread: UnreadAccount(caller.share), transport: answers)
        let order = Mutex<[String]>([])
        let note: @Sendable (String) -> Void = { name in order.withLock { $0.append(name) } }
        caller.readOnPool(taking: 1 << 30, giveBack: { note("given back") }) {
            note("the first")
        } completion: { _ in
            // These come while it is being handled.
            other.readOnPool(taking: 1 << 30, { note("the second") }, completion: { _ in })
            third.readOnPool(taking: 1 << 30, { note("the third") }, completion: { _ in })
            note("handled")
        }
        loop.step()
        #expect(order.withLock { $0 } == ["the first", "handled", "given back", "the second", "the third"])
        #expect(caller.share[.reading] == 0)
        #expect(load.reading.depth == 0)
    }

    @Test("an item for a call that waits for a position is counted") func earlyItem() throws {
        test.source.replication = ReplicationStatus(table: "the table t", state: .following)
        var params = watch()
        params["atLeast"] = "1/0"
        open("ClusterService/WatchClusters", params)
        let before = load.input.bytes
        for size in [5000, 3000] {
            caller.receive(item: [UInt8](repeating: 0x20, count: size), for: 1)
            #expect(load.input.bytes == before + size)
        }
        load.input.add(Limits().maxInputBytes, of: caller.share)
        caller.receive(item: [UInt8](repeating: 0x20, count: 5000), for: 1)
        #expect(answers.errors.map(\.code) == [.resourceExhausted])
        load.input.add(-Limits().maxInputBytes, of: caller.share)
        #expect(load.input.bytes == 0)
    }

    @Test("a server that shuts down ends watches, and finishes other streams") func draining() throws {
        open("ClusterService/WatchClusters", watch())
        open("SourceService/GetFeatures", id: 2)
        caller.engine.beginDraining()
        caller.drain()
        #expect(answers.errors.map(\.code) == [.unavailable])
        loop.step()
        #expect(answers.items.count == 1)
        #expect(answers.answers.count == 1)
        #expect(answers.errors.count == 1)
    }

    @Test("a timer that fires early does not end a call before its deadline") func earlyTimer() throws {
        open("SourceService/GetFeatures", timeout: 60_000)
        try #require(loop.timers.count == 1)
        loop.timers[0]()
        #expect(answers.errors.isEmpty)
        #expect(loop.timers.count == 2)
        loop.step()
        #expect(answers.answers.count == 1)
    }

    @Test(
        "beside answers that its user's clients leave unread, a new one gets a view at once, and more once there is room",
        arguments: [false, true], [false, true])
    func views(isWatch: Bool, isFiltered: Bool) throws {
        let text = String(repeating: "x", count: 1000)
        let points = (0..<700).map { point($0, Double($0) / 10, 0, #"{"n":1,"t":"\#(text)"}"#) }
        try test.load("[\(points.joined(separator: ","))]")
        var claims = [UnreadBudget.Claim(Limits().maxQueuedBytes, of: UnreadAccount(caller.share), in: load.unread)]
        var answered: Int { isWatch ? answers.items.count : answers.answers.count }
        func ask(_ id: Int64, east: Double) {
            var params: JSONObject = ["bbox": [-1, -1, .number(east), 1], "zoom": 20]
            if isWatch, id > 1 {
                return caller.receive(item: Array(JSONValue.object(params).text.utf8), for: 1)
            }
            if isFiltered { params["filter"] = [">", ["get", "n"], 0] }
            open("ClusterService/\(isWatch ? "Watch" : "Get")Clusters", params, id: id)
        }
        func pass() {
            loop.step()
            for timer in loop.timers { timer() }
            loop.step()
        }
        ask(1, east: 1)
        pass()
        #expect(answered == 1)
        ask(2, east: 180)
        pass()
        pass()
        withExtendedLifetime(claims) { #expect(answered == 1) }
        claims.removeAll()
        pass()
        #expect(answered == 2)
        #expect(answers.errors.isEmpty)
    }

    private final class Token {}

    @Test("streams that always have something to send do not accumulate memory") func turns() throws {
        let turns = Backlog(8, post: loop.post)
        var token: Token? = Token()
        weak let weakToken = token
        turns.append { [token] in withExtendedLifetime(token) {} }
        token = nil
        var left = 5000
        func again() {
            left -= 1
            if left > 0 { turns.append(again) }
        }
        // Two streams, each of which wants to send again at once: the list is never empty.
        turns.append(again)
        turns.append(again)
        while left > 1000, loop.stepOnce() {}
        #expect(weakToken == nil)
        left = 0
        loop.step()
    }
}
