// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import SourceTestSupport
import Testing
import Transports
import TypedContract

@testable import RPC

/// Carries one call's messages, as gRPC does.
private final class Carrier: TypedCallOwner, MessageInputOwner {
    let caller: Caller!
    let parser = JSONParser()
    let callID: Int64 = 1
    let timeLeft: Int64? = nil
    private(set) var errors: [RPCError] = []
    private(set) var call: TypedCall?
    private var input: MessageInput?

    init(_ method: TypedMethod, by caller: Caller) {
        self.caller = caller
        let call = TypedCall(method, for: self)
        self.call = call
        input = MessageInput(.identity, to: call, for: self)
    }

    /// Sends the only message of the client, or its first if more follow.
    func send(_ message: [UInt8], isLast: Bool) {
        let length = UInt32(message.count).bigEndian
        let prefix = [0] + withUnsafeBytes(of: length) { Array($0) }
        input?.append((prefix + message).span.bytes)
        if isLast { input?.end() }
    }

    func currentIdentity() -> Identity { caller.identity }

    func encoder(_ method: TypedMethod, structProperties: Bool) -> TypedAnswerEncoder {
        TypedAnswerEncoder(
            method, of: caller.engine.methods, structProperties: structProperties, .prefix, compression: nil)
    }

    func borrow() -> OutgoingBytes { OutgoingBytes(ByteWriter()) }
    func giveBack(_ bytes: OutgoingBytes) {}
    func finish(with answer: OutgoingBytes) {}
    func tookMessage() {}
    func fail(_ error: RPCError) { errors.append(error) }
    func goOn() {}
}

/// What calls hold whose params came in a message.
@Suite("Calls whose messages are protobuf") struct TypedCallTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let test: TestSource
    private let caller: Caller
    private var held: Int { caller.engine.load.input.bytes }

    init() throws {
        test = try TestSource()
        try test.load(list(point(1, 0, 0, #"{"n":1}"#), point(2, 10, 10, #"{"n":2}"#)))
        caller = try Caller(on: test, loop: loop, answers: answers)
        // All calls wait for the pool.
        caller.hold(true)
        caller.engine.load.changes.hold(caller.jobQueue(for: .change), true)
    }

    private func method(_ name: String) throws -> TypedMethod {
        try #require(TypedMethod.named("clusterd.v1." + name))
    }

    /// A query of a filter with that many numbers.
    private func query(numbers: Int) throws -> [UInt8] {
        let list = Array(repeating: "1", count: numbers).joined(separator: ",")
        let filter = #"[\"in\",[\"get\",\"n\"],[\"literal\",[\#(list)]]]"#
        let json = #"{"source":"test","zoom":1,"bbox":{"east":5},"filterJson":"\#(filter)"}"#
        return try method("ClusterService/GetClusters").protobuf(fromJSON: Array(json.utf8).span)
    }

    private func update(features: Int) throws -> [UInt8] {
        let feature = #"{"id":{"integer":1},"position":{"longitude":1,"latitude":2},"propertiesJson":"{\"n\":1}"}"#
        let list = Array(repeating: feature, count: features).joined(separator: ",")
        let json = #"{"source":"test","upsert":[\#(list)]}"#
        return try method("SourceService/UpdateFeatures").protobuf(fromJSON: Array(json.utf8).span)
    }

    private func expectHeld(_ name: String, _ message: [UInt8], atLeast least: Int) throws {
        let carrier = Carrier(try method(name), by: caller)
        let before = held
        carrier.send(message, isLast: true)
        loop.step()
        #expect(carrier.errors.isEmpty)
        #expect(held - before == message.count * LargeMessage.memoryPerByte)
        #expect(held - before >= least)
        carrier.call?.cancel()
        #expect(held == before)
    }

    @Test("params count while a call waits", arguments: [100, 200_000]) func filters(numbers: Int) throws {
        let parsed = numbers * MemoryLayout<JSONValue>.stride
        try expectHeld("ClusterService/GetClusters", query(numbers: numbers), atLeast: parsed)
    }

    @Test("features count while a call waits", arguments: [1, 20_000]) func features(count: Int) throws {
        try expectHeld("SourceService/UpdateFeatures", update(features: count), atLeast: 100 * count)
    }

    @Test("the message that opens a stream counts") func stream() throws {
        let carrier = Carrier(try method("SourceService/ImportFeatures"), by: caller)
        let json = #"{"open":{"source":"test","mode":"IMPORT_MODE_APPEND"}}"#
        let message = try method("SourceService/ImportFeatures").protobuf(fromJSON: Array(json.utf8).span)
        carrier.send(message, isLast: false)
        #expect(held == message.count * LargeMessage.memoryPerByte)
        carrier.call?.cancel()
        #expect(held == 0)
    }

    @Test("a call is rejected beside too much that its user's calls hold") func room() throws {
        let limit = Limits().maxInputBytes
        caller.engine.load.input.add(limit, of: caller.share)
        let carrier = Carrier(try method("ClusterService/GetClusters"), by: caller)
        carrier.send(try query(numbers: 1000), isLast: true)
        #expect(carrier.errors.map(\.code) == [.resourceExhausted])
        #expect(carrier.call?.call == nil)
        caller.engine.load.input.add(-limit, of: caller.share)
        #expect(held == 0)
    }
}
