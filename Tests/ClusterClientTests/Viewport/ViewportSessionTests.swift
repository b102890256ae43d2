// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Synchronization
import Testing

@testable import ClusterClient

@Suite("Viewport session") struct ViewportSessionTests {
    private static let two = FlushPace(frame: .zero, batches: 2...2)

    @Test("updates come in batches and end with the stream")
    func updatesComeInBatchesAndEndWithTheStream() async throws {
        let server = try FakeServer { message, peer in
            switch message {
            case .open(let request):
                let features = ["a", "b", "c"].map { Change.feature($0) }
                peer.item(request.id, Change.text(add: features, keep: 0))
            case .item(let id, let item):
                #expect(String(decoding: item, as: UTF8.self) == #"{"bbox":[1,2,3,4],"zoom":5}"#)
                peer.item(id, Change.text(remove: ["a"], keep: 2, revision: 2))
            case .end(let id): peer.send(#"{"id":\#(id),"end":{}}"#)
            case .cancel: break
            }
        }
        let client = try await Client.connect(socketPath: server.path)
        let session = try client.viewport(of: "s", in: .world, zoom: 1, pace: Self.two)
        var updates = session.makeAsyncIterator()
        let first = try await updates.next()
        #expect(first?.added.map(\.key) == ["a", "b"])
        #expect(first?.isComplete == false)
        let second = try await updates.next()
        #expect(second?.added.map(\.key) == ["c"])
        #expect(second?.isComplete == true)
        #expect(second?.revision == 1)
        try await session.move(to: BoundingBox(west: 1, south: 2, east: 3, north: 4), zoom: 5)
        let third = try await updates.next()
        #expect(third?.removed == ["a"])
        #expect(third?.revision == 2)
        #expect(Set(session.markers.keys) == ["b", "c"])
        session.end()
        #expect(try await updates.next() == nil)
    }

    @Test("an empty change is delivered") func anEmptyChangeIsTold() async throws {
        let server = try FakeServer { message, peer in
            guard case .open(let request) = message else { return }
            peer.item(request.id, Change.text(keep: 0, revision: 7))
        }
        let client = try await Client.connect(socketPath: server.path)
        let session = try client.viewport(of: "s", in: .world, zoom: 1)
        for try await update in session {
            #expect(update == ViewportUpdate(isComplete: true, revision: 7))
            break
        }
    }

    @Test("an error comes after the updates before it") func anErrorComesAfterTheUpdatesBeforeIt() async throws {
        let server = try FakeServer { message, peer in
            guard case .open(let request) = message else { return }
            peer.item(request.id, Change.text(add: [Change.feature("a")], keep: 0))
            peer.send(#"{"id":\#(request.id),"error":{"code":5,"status":"NOT_FOUND","message":"gone"}}"#)
        }
        let client = try await Client.connect(socketPath: server.path)
        var updates = try client.viewport(of: "s", in: .world, zoom: 1, pace: Self.two).makeAsyncIterator()
        var markers = 0
        await #expect(throws: RPCError(.notFound, "gone")) {
            while let update = try await updates.next() { markers += update.count }
        }
        #expect(markers == 1)
    }

    @Test("an inconsistent change ends the watch") func endsWatchOnOversizedChange() async throws {
        let server = try FakeServer { message, peer in
            guard case .open(let request) = message else { return }
            peer.item(request.id, Change.text(remove: ["a"], keep: 0))
        }
        let client = try await Client.connect(socketPath: server.path)
        var updates = try client.viewport(of: "s", in: .world, zoom: 1).makeAsyncIterator()
        await #expect(throws: RPCError.self) { _ = try await updates.next() }
    }

    @Test("releasing the session cancels the watch") func lettingGoCancels() async throws {
        let (cancelled, announce) = AsyncStream<Int64>.makeStream()
        let server = try FakeServer { message, peer in
            switch message {
            case .open(let request): peer.item(request.id, Change.text(keep: 0))
            case .cancel(let id): announce.yield(id)
            default: break
            }
        }
        let client = try await Client.connect(socketPath: server.path)
        do {
            var updates = try client.viewport(of: "s", in: .world, zoom: 1).makeAsyncIterator()
            _ = try await updates.next()
        }
        for await _ in cancelled { break }
    }

    @Test("a cancelled task stops waiting") func aCancelledTaskWaitsNoMore() async throws {
        let server = try FakeServer { _, _ in }
        let client = try await Client.connect(socketPath: server.path)
        let session = try client.viewport(of: "s", in: .world, zoom: 1)
        let task = Task { for try await _ in session {} }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
