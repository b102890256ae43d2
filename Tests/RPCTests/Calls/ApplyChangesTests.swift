// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceTestSupport
import Testing

@testable import RPC
@testable import SourceEngine

/// Streams that apply a log.
@Suite("Apply changes") struct ApplyChangesTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let test: TestSource
    private let caller: Caller

    init() throws {
        test = try TestSource()
        caller = try Caller(on: test, loop: loop, answers: answers)
    }

    private func open(_ params: JSONObject = ["log": "orders"], id: Int64 = 1, timeout: Int64? = nil) {
        caller.open("SourceService/ApplyChanges", params, id: id, timeout: timeout, answers: answers)
        loop.step()
    }

    private func send(_ item: String, id: Int64 = 1) { caller.receive(item: Array(item.utf8), for: id) }

    private func item(_ position: String, _ features: String..., remove: String = "") -> String {
        #"{"position":"\#(position)","upsert":[\#(features.joined(separator: ","))],"remove":[\#(remove)]}"#
    }

    private func last() throws -> JSONObject {
        guard case .object(let object) = try JSONReader.parse(try #require(answers.itemBytes.last)) else { return [:] }
        return object
    }

    @Test("a stream begins with the position, answers its items in order, and ends") func course() throws {
        open()
        #expect(answers.items == [#"{"position":null,"revision":0}"#])
        send(item("1", point(1, 0, 0), point(2, 9, 9)))
        loop.step()
        send(item("2", point(1, 5, 5), remove: "2,7"))
        send(#"{"position":"3"}"#)
        caller.receiveEnd(for: 1)
        loop.step()
        #expect(answers.errors.isEmpty)
        #expect(answers.answers == ["{}"])
        #expect(loop.longWork > 0, "views do not preempt it")
        #expect(try last()["position"] == "3")
        #expect(test.source.revision.pointCount == 1)
        let sums = answers.items.dropFirst().map { try? JSONReader.parse(Array($0.utf8)) }.reduce(into: [
            0.0, 0, 0, 0, 0,
        ]) {
            for (index, name) in ["inserted", "updated", "removed", "missing", "skipped"].enumerated() {
                if case .object(let object)?? = $1.map(Optional.some), case .number(let number)? = object[name] {
                    $0[index] += number
                }
            }
        }
        #expect(sums == [2, 1, 1, 1, 0])
        open(id: 2)
        #expect(try last()["position"] == "3")
        #expect(caller.inputBytes == 0)
    }

    @Test("items that come while the stream opens are not lost; answers wait for a client that does not read")
    func unread() throws {
        answers.canTakeItem = false
        open()
        for number in 1...5 { send(item("\(number)", point(number, 0, 0))) }
        loop.step()
        #expect(answers.items.isEmpty)
        answers.canTakeItem = true
        caller.transportIsReady()
        loop.step()
        #expect(answers.items.first == #"{"position":null,"revision":0}"#)
        #expect(try last()["position"] == "5")
        #expect(test.source.revision.pointCount == 5)
    }

    @Test(
        "an item that is wrong ends the stream and is named, after those before it",
        arguments: [
            (#"{"position":"9","upsert":[1]}"#, "item[1].upsert[0]"), (#"{"upsert":[]}"#, "item[1].position"),
            (#"{"position":7}"#, "item[1].position"), (#"{"position":""}"#, "item[1].position"),
            (#"{"position":"\#(String(repeating: "é", count: 513))"}"#, "item[1].position"),
            (#"{"position":"9","upsert":{}}"#, "item[1].upsert"),
            (#"{"position":"9","remove":[[]]}"#, "item[1].remove"),
            (#"{"position":"9","remove":null}"#, "item[1].remove"), (#"{"position":"9","more":1}"#, "item[1].more"),
            (#"{"position":"9","upsert":[\#(point(1, 0, 0))],"remove":[1]}"#, "item[1].remove[0]"),
            (#"{"position":"9","upsert":[\#(point(1, 0, 0)),\#(point(nil, 0, 0))]}"#, "item[1].upsert[1]"),
            (#"{"position":"9","upsert":[\#(point(1, 0, 0)),\#(point(5, 0, 99))]}"#, "item[1].upsert[1]"),
        ])
    func wrong(_ text: String, _ param: String) throws {
        open()
        // While nothing is sent, both are applied together.
        answers.canTakeItem = false
        send(item("1", point(1, 3, 3)))
        send(text)
        answers.canTakeItem = true
        caller.transportIsReady()
        loop.step()
        #expect(try last()["position"] == "1")
        let error = try #require(answers.errors.first)
        #expect(error.code == .invalidArgument)
        #expect(error.details?["param"] == .string(param), "\(error)")
        #expect(error.message.hasPrefix(param), "\(error)")
        #expect(test.source.revision.position == "1")
        #expect(caller.openCalls == 0)
    }

    @Test("invalid features are left out and counted if the client says so") func skip() throws {
        open(["log": "l", "onInvalid": "skip"])
        send(item("1", point(1, 3, 3), point(2, 3, 99), point(nil, 1, 1), "{}"))
        loop.step()
        #expect(try last()["skipped"] == 3)
        #expect(try last()["inserted"] == 1)
        send(item("2", remove: "[]"))
        loop.step()
        #expect(answers.errors.map(\.code) == [.invalidArgument])
    }

    @Test("a second stream of a log ends the first; of another log it does not") func takeover() throws {
        open()
        open(["log": "other"], id: 2)
        send(item("o", point(8, 1, 1)), id: 2)
        send(item("1", point(1, 3, 3)))
        loop.step()
        open(id: 3)
        #expect(answers.errors.map(\.code) == [.aborted])
        #expect(try last()["position"] == "1")
        send(item("2", point(2, 3, 3)))
        send(item("2", point(2, 4, 4)), id: 3)
        send(item("o2", point(8, 2, 1)), id: 2)
        loop.step()
        #expect(answers.errors.count == 1)
        #expect(test.source.revision.pointCount == 3)
    }

    @Test("deleting the source ends its streams with NOT_FOUND") func deletion() throws {
        open()
        send(item("1", point(1, 3, 3)))
        loop.step()
        try test.registry.delete(try #require(SourceName("test")))
        loop.step()
        #expect(answers.errors.map(\.code) == [.notFound])
        open(id: 2)
        #expect(answers.errors.last?.code == .notFound)
    }

    @Test("a source that follows a table takes no log") func table() throws {
        test.source.replication = ReplicationStatus(table: "the table t", state: .following)
        open()
        #expect(answers.errors.map(\.code) == [.failedPrecondition])
    }

    @Test("a log has a name of 1 to 64 characters", arguments: [("", false), ("é\u{0}\n", true)])
    func name(_ name: String, _ isGood: Bool) throws {
        for (name, isGood) in [
            (name, isGood), (name + String(repeating: "x", count: 65 - name.unicodeScalars.count), false),
        ] {
            open(["log": .string(name)], id: isGood ? 5 : 6)
            #expect((answers.errors.last?.code == .invalidArgument) == !isGood)
        }
    }

    @Test("nothing more is read while more than a message's limit waits") func backpressure() throws {
        open()
        caller.hold(true)
        let text = String(repeating: "x", count: 1 << 20)
        // The first is being applied; the others wait.
        let big = item("1", point(1, 3, 3, "{\"t\":\"\(text)\"}"))
        loop.holdsWork = true
        for _ in 0...16 { send(big) }
        #expect(caller.isInputFull)
        loop.holdsWork = false
        loop.finishWork()
        loop.step()
        #expect(!caller.isInputFull)
        #expect(caller.inputBytes == 0)
        #expect(try last()["position"] == "1")
    }

    @Test("a call that ends meanwhile gives back what it holds and the log") func ended() throws {
        open()
        loop.holdsWork = true
        send(item("1", point(1, 3, 3)))
        send(item("2", point(1, 3, 3)))
        caller.receiveCancel(for: 1)
        #expect(caller.inputBytes == 0)
        #expect(test.source.description.feeds.isEmpty)
        loop.holdsWork = false
        loop.finishWork()
        loop.step()
        #expect(test.source.description.feeds.allSatisfy { !$0.isOpen })
    }

    @Test("a description says how far each log is") func description() throws {
        open(["log": "a"])
        open(["log": "b"], id: 2)
        send(item("a1", point(1, 3, 3)))
        loop.step()
        send(item("b1", point(2, 3, 3)), id: 2)
        loop.step()
        caller.open("SourceService/GetSource", [:], id: 9, answers: answers)
        guard case .object(let source) = try JSONReader.parse(try #require(answers.answerBytes.last)),
            case .object(let replication)? = source["replication"], case .array(let logs)? = replication["logs"]
        else { throw RPCError(.internal, "no description") }
        #expect(source["position"] == "b1")
        #expect(replication["log"] == "b")
        #expect(replication["position"] == "b1")
        #expect(replication["lagMs"] == 0)
        #expect(replication["state"] == "following")
        #expect(logs.count == 2)
        guard case .number(let rate)? = replication["changesPerSecond"] else { throw RPCError(.internal, "no rate") }
        #expect(rate > 0)
    }

    @Test("a query waits for a position by its exact text; those within a batch are known too") func atLeast() throws {
        func query(_ position: String, id: Int64) {
            caller.open(
                "ClusterService/GetClusters",
                ["bbox": [-180, -90, 180, 90], "zoom": 3, "atLeast": .string(position)], id: id, answers: answers)
            loop.step()
        }
        query("x", id: 10)
        #expect(answers.errors.map(\.code) == [.invalidArgument])
        open()
        query("p1", id: 11)
        query("p2", id: 12)
        query("p3", id: 13)
        #expect(answers.answers.isEmpty)
        answers.canTakeItem = false
        send(item("p1", point(1, 3, 3)))
        send(item("p2", point(2, 3, 3)))
        loop.step()
        #expect(answers.answers.count == 2)
        #expect(answers.answers.allSatisfy { $0.contains(#""position":"p2""#) || $0.contains(#""position":"p1""#) })
        query("p1", id: 14)
        #expect(answers.answers.count == 3)
        query("P1", id: 15)
        #expect(answers.answers.count == 3)
        send(#"{"position":"p3"}"#)
        loop.step()
        #expect(answers.answers.count == 4)
    }
}
