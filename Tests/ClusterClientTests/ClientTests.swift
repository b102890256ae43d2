// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Synchronization
import Testing

@testable import ClusterClient

@Suite("Client") struct ClientTests {
    private func failure(_ body: () async throws -> some Any) async -> RPCError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? RPCError
        }
    }

    @Test("many calls share a connection and their answers come in any order") func multiplexesCalls() async throws {
        // Answers come when 200 calls are there, the last one first.
        let server = try FakeServer { message, peer in
            guard case .open(let request) = message else { return }
            peer.memory.append(request.id)
            guard peer.memory.count == 200 else { return }
            for id in peer.memory.reversed() { peer.result(id, "{\"id\":\(id)}") }
        }
        let client = try await Client.connect(socketPath: server.path)
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<200 { group.addTask { try await client.call("T/M").text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers == Set((1...200).map { "{\"id\":\($0)}" }))
    }

    @Test("a call carries method params and deadline") func aCallCarriesMethodParamsAndDeadline() async throws {
        let server = try FakeServer { message, peer in
            guard case .open(let request) = message else { return }
            let seen: JSONObject = [
                "method": .string(request.method), "params": .object(request.params),
                "timeout": request.timeoutMilliseconds.map { .number(Double($0)) } ?? .null,
                "deflate": .bool(request.acceptsDeflate),
            ]
            peer.result(request.id, JSONValue.object(seen).text)
        }
        let client = try await Client.connect(socketPath: server.path)
        let answer = try await client.call(
            "ClusterService/GetTile", ["z": .number(1)],
            options: CallOptions(timeout: .milliseconds(1500), acceptsCompression: true))
        #expect(
            answer.text
                == #"{"method":"clusterd.v1.ClusterService/GetTile","params":{"z":1},"timeout":1500,"deflate":true}"#
        )
    }

    @Test("an error carries its code and details") func anErrorCarriesItsCodeAndDetails() async throws {
        let server = try FakeServer { message, peer in
            peer.send(
                #"{"id":\#(message.id),"error":{"code":5,"status":"NOT_FOUND","message":"no","details":{"a":[1]}}}"#
            )
        }
        let client = try await Client.connect(socketPath: server.path)
        let error = await failure { try await client.call("T/M") }
        #expect(error == RPCError(.notFound, "no", details: ["a": .array([.number(1)])]))
        #expect(await failure { try await client.call("T/M") }?.code == .notFound)
    }

    @Test("a lost connection fails all calls with unavailable")
    func lostConnectionFailsCallsWithUnavailable() async throws {
        let server = try FakeServer { message, peer in
            if message.id == 3 { peer.close() }
        }
        let client = try await Client.connect(socketPath: server.path)
        let codes = await withTaskGroup(of: StatusCode?.self) { group in
            for _ in 0..<3 { group.addTask { await failure { try await client.call("T/M") }?.code } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == [.unavailable, .unavailable, .unavailable])
        #expect(await failure { try await client.call("T/M") }?.code == .unavailable)
    }

    @Test("the first socket that answers is used") func theFirstSocketThatAnswersIsUsed() async throws {
        let server = try FakeServer { message, peer in
            if case .open(let request) = message { peer.result(request.id, "{}") }
        }
        let absent = server.path + ".absent"
        let client = try await Client.connect(to: [absent, server.path])
        #expect(client.socketPath == server.path)
        #expect(try await client.call("T/M").text == "{}")
        let error = await failure { try await Client.connect(to: [absent, absent + "2"]) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("\(absent) or \(absent)2") == true)
    }

    @Test("without a listener the error is UNAVAILABLE and says what to do")
    func nobodyListeningIsUnavailableAndSaysWhatToDo() async {
        let error = await failure { try await Client.connect(socketPath: "/nonexistent/clusterd.sock") }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("/nonexistent/clusterd.sock") == true)
        #expect(error?.message.contains("start the daemon") == true)
        let long = String(repeating: "x", count: 200)
        #expect(await failure { try await Client.connect(socketPath: "/\(long)") }?.code == .invalidArgument)
    }

    @Test("cancelling the task cancels the call at the server")
    func cancellingTheTaskCancelsTheCallAtTheServer() async throws {
        let (opened, openedNow) = AsyncStream.makeStream(of: Int64.self)
        let (cancelled, cancelledNow) = AsyncStream.makeStream(of: Int64.self)
        let server = try FakeServer { message, peer in
            switch message {
            case .open(let request) where request.method.hasSuffix("Slow"): openedNow.yield(request.id)
            case .cancel(let id):
                cancelledNow.yield(id)
                peer.send(#"{"id":\#(id),"error":{"code":1,"status":"CANCELLED","message":"cancelled"}}"#)
            default: peer.result(message.id, "{}")
            }
        }
        let client = try await Client.connect(socketPath: server.path)
        let task = Task { try await client.call("T/Slow") }
        var openings = opened.makeAsyncIterator()
        let id = await openings.next()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        var cancellations = cancelled.makeAsyncIterator()
        #expect(await cancellations.next() == id)
        #expect(try await client.call("T/M").text == "{}")
    }

    @Test("a stream yields its items in order and ends") func aStreamHandsOutItsItemsInOrderAndEnds() async throws {
        let server = try FakeServer { message, peer in
            for number in 0..<1000 { peer.item(message.id, "{\"n\":\(number)}") }
            peer.send(#"{"id":\#(message.id),"end":{}}"#)
        }
        let client = try await Client.connect(socketPath: server.path)
        var numbers: [Int] = []
        for try await item in try client.openServerStream("T/S") {
            numbers.append(try item.value()["n"]?.asInteger ?? -1)
        }
        #expect(numbers == Array(0..<1000))
    }

    @Test("items before an error are yielded first") func itemsBeforeAnErrorAreHandedOutFirst() async throws {
        let server = try FakeServer { message, peer in
            peer.item(message.id, "{}")
            peer.send(#"{"id":\#(message.id),"error":{"code":10,"status":"ABORTED","message":"moved on"}}"#)
        }
        let client = try await Client.connect(socketPath: server.path)
        var items = try client.openServerStream("T/S").makeAsyncIterator()
        #expect(try await items.next()?.text == "{}")
        let error = await failure { try await items.next() as Any }
        #expect(error?.code == .aborted)
    }

    @Test("an import streams its items and gets one answer")
    func anImportStreamsItsItemsAndGetsOneAnswer() async throws {
        let server = try FakeServer { message, peer in
            switch message {
            case .open: break
            case .item(_, let bytes): peer.memory.append(Int64(bytes.count))
            case .end(let id):
                peer.result(id, "{\"items\":\(peer.memory.count),\"bytes\":\(peer.memory.reduce(0, +))}")
            case .cancel: break
            }
        }
        let client = try await Client.connect(socketPath: server.path)
        let call = try client.openClientStream("T/I")
        let item = Array("{\"features\":[\"\(String(repeating: "x", count: 1 << 20))\"]}".utf8)
        for _ in 0..<20 { try await call.send(item) }
        #expect(try await call.finish().text == "{\"items\":20,\"bytes\":\(20 * item.count)}")
    }

    @Test("an import that is refused stops sending") func anImportThatIsRefusedStopsSending() async throws {
        let server = try FakeServer { message, peer in
            guard case .item(let id, _) = message else { return }
            peer.memory.append(id)
            guard peer.memory.count == 1 else { return }
            peer.send(#"{"id":\#(id),"error":{"code":3,"status":"INVALID_ARGUMENT","message":"bad"}}"#)
        }
        let client = try await Client.connect(socketPath: server.path)
        let call = try client.openClientStream("T/I")
        let error = await failure {
            while true { try await call.send([UInt8]("{\"features\":[]}".utf8)) }
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test("a stream outlives the client that opened it") func aStreamOutlivesTheClientThatOpenedIt() async throws {
        let server = try FakeServer { message, peer in
            guard case .item(let id, _) = message else { return }
            peer.result(id, "{\"done\":true}")
        }
        func open() async throws -> ClientStreamCall {
            try await Client.connect(socketPath: server.path).openClientStream("T/I")
        }
        let call = try await open()
        try await call.send([:])
        #expect(try await call.finish().text == "{\"done\":true}")
    }

    @Test("the connection ends with its last reference") func closesWithLastReference() async throws {
        let (ended, endedNow) = AsyncStream.makeStream(of: Void.self)
        let server = try FakeServer(onEnd: { endedNow.yield() }) { message, peer in
            peer.result(message.id, "{}")
        }
        _ = try await Client.connect(socketPath: server.path).call("T/M")
        for await _ in ended { break }
    }

    @Test("several tasks may consume a stream's items") func severalTasksMayTakeAStreamsItems() async throws {
        let server = try FakeServer { message, peer in
            for _ in 0..<100 { peer.item(message.id, "{}") }
            peer.send(#"{"id":\#(message.id),"end":{}}"#)
        }
        let client = try await Client.connect(socketPath: server.path)
        let call = try client.openServerStream("T/S")
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await call.reduce(0) { count, _ in count + 1 } } }
            return try await group.reduce(0, +)
        }
        #expect(count == 100)
    }

    @Test("an error of no call ends the connection") func anErrorOfNoCallEndsTheConnection() async throws {
        let server = try FakeServer { _, peer in
            peer.send(#"{"id":null,"error":{"code":3,"status":"INVALID_ARGUMENT","message":"not JSON"}}"#)
        }
        let client = try await Client.connect(socketPath: server.path)
        #expect(await failure { try await client.call("T/M") } == RPCError(.invalidArgument, "not JSON"))
        #expect(await failure { try await client.call("T/M") } == RPCError(.invalidArgument, "not JSON"))
    }

    @Test("a server's last error is reported even if a call could not be sent")
    func reportsServerErrorBeforeClose() async throws {
        let server = try FakeServer(onAccept: { peer in
            peer.send(#"{"id":null,"error":{"code":8,"status":"RESOURCE_EXHAUSTED","message":"too many"}}"#)
            peer.close()
        }) { _, _ in }
        // Whether the loop sends before it reads is up to the system: of many connections, some do.
        try await withThrowingTaskGroup(of: RPCError?.self) { group in
            for _ in 0..<300 {
                group.addTask {
                    let client = try await Client.connect(socketPath: server.path)
                    return await failure { try await client.call("T/M") }
                }
            }
            for try await error in group { #expect(error == RPCError(.resourceExhausted, "too many")) }
        }
    }

    @Test(
        "the client disconnects from a server that breaks the protocol",
        arguments: [[2, 0, 0, 0, 2, 123, 125], [0, 255, 255, 255, 255], [0, 0, 0, 0, 1, 91]] as [[UInt8]])
    func aServerThatBreaksTheProtocolIsLeft(bytes: [UInt8]) async throws {
        let server = try FakeServer { _, peer in peer.sendRaw(bytes) }
        let client = try await Client.connect(socketPath: server.path)
        #expect(await failure { try await client.call("T/M") }?.code == .internal)
    }

    @Test("closing ends calls under way") func closingEndsCallsUnderWay() async throws {
        let (opened, openedNow) = AsyncStream.makeStream(of: Void.self)
        let server = try FakeServer { _, _ in openedNow.yield() }
        let client = try await Client.connect(socketPath: server.path)
        let call = Task { await failure { try await client.call("T/M") } }
        for await _ in opened { break }
        client.close()
        #expect(await call.value?.code == .cancelled)
    }

    @Test("queries return typed values") func queriesHaveTypes() async throws {
        let server = try FakeServer { message, peer in
            peer.result(
                message.id,
                """
                {"type":"FeatureCollection","features":[
                {"type":"Feature","id":164,"properties":{"cluster":true,"cluster_id":164,"point_count":1200,"point_count_abbreviated":"1.2k","sum":5},"geometry":{"type":"Point","coordinates":[1.5,2]}},
                {"type":"Feature","id":7,"properties":{"cluster":true,"name":"liar"},"geometry":{"type":"Point","coordinates":[3,4,5]}}],
                "truncated":true,"revision":12}
                """)
        }
        let client = try await Client.connect(socketPath: server.path)
        let found = try await client.clusters(of: "s", in: .world, zoom: 3, limit: 2)
        #expect(found.revision == 12)
        #expect(found.isTruncated == true)
        #expect(
            found.features[0].cluster
                == Feature.Cluster(id: 164, pointCount: 1200, totalCount: nil, abbreviatedCount: "1.2k"))
        #expect(found.features[1].cluster == nil)
        #expect(found.features[1].longitude == 3)
    }
}
