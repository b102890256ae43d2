// SPDX-License-Identifier: MIT
import Foundation
import JSON
import TestSupport
import Testing

/// Clients that do not read, leave in the midst, or are too many.
@Suite("Under pressure") struct PressureTests {
    private static let world: JSONValue = [-180, -90, 180, 90]
    private static let everything: JSONValue = ["source": "s", "bbox": world, "zoom": 17]
    private static let features = GoldenDataset.points(kind: "u", count: 6000, seed: 2).map(\.feature)

    private func load(_ daemon: DaemonProcess) throws -> RawClient {
        let client = try daemon.client()
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        _ = try client.importFeatures("s", Self.features, batch: 2000)
        return client
    }

    @Test("clients that never read cost a bounded amount, and others are answered") func slowReaders() throws {
        let budget = 4 << 20
        let daemon = try DaemonProcess(limits: [
            "maxQueuedBytesPerConnection": 1 << 20, "maxQueuedBytes": budget,
            // Those that never read are closed for lack of room alone.
            "stallSeconds": 3600,
        ])
        let bystander = try load(daemon)
        try bystander.open("ClusterService/GetClusters", Self.everything)
        let answer = try bystander.receiveText().split(separator: UInt8(ascii: ":"), maxSplits: 2)[2]
        let size = answer.count
        let calls = 20
        // Some answers are being written while the budget counts those that wait.
        // The sanitizers' own memory counts too, that of freed blocks above all.
        let allowed = Sanitizer.isActive ? 1 << 30 : 4 * budget
        let before = daemon.peakMemory
        let readers = try (0..<6).map { _ in try daemon.client() }
        for reader in readers {
            for _ in 0..<calls { try reader.open("ClusterService/GetClusters", Self.everything) }
        }
        // Each answer comes after work on the others' listings had its turns.
        for _ in 0..<200 {
            #expect(try bystander.call("ServerService/Check") == ["status": "SERVING"])
        }
        #expect(size * calls * readers.count > 24 * budget)
        #expect(daemon.peakMemory - before < allowed)
        // Who reads is served whatever the others leave unread.
        for _ in 0..<3 {
            try bystander.open("ClusterService/GetClusters", Self.everything)
            #expect(try bystander.receiveText().suffix(answer.count).elementsEqual(answer))
        }
        // Who reads in the end gets whole answers, up to where the connection was closed for lack of room.
        for reader in readers {
            for _ in 0..<calls {
                guard let text = try? reader.receiveText() else { break }
                #expect(text.suffix(answer.count).elementsEqual(answer))
            }
        }
        #expect(daemon.peakMemory - before < allowed)
    }

    @Test("HTTP clients that never read are closed, also those whose answer is the last, and others are answered")
    func slowHTTPReaders() throws {
        let patient = try DaemonProcess(http: "", limits: "{\"maxQueuedBytes\":\(1 << 20),\"stallSeconds\":3600}")
        _ = try load(patient)
        let target = "/sources/s/clusters?zoom=17"
        let answer = try patient.http().get(target).body
        // Far more than the system holds for a client.
        #expect(10 * answer.count > 6 << 20)
        // They are closed for lack of room.
        let greedy = try (0..<8).map { _ in try patient.http() }
        for client in greedy { try client.send((0..<10).flatMap { _ in client.request("GET", target) }) }
        #expect(try patient.http().get(target).body == answer)
        // Answers that are not kept yet need room.
        for limit in 5990..<5993 {
            let other = try patient.http().get("\(target)&limit=\(limit)")
            #expect(other.status == 200)
            #expect(other.body.count > answer.count / 2)
        }
        // They are closed for their time alone.
        let daemon = try DaemonProcess(
            http: "", limits: "{\"stallSeconds\":1,\"maxQueuedBytesPerConnection\":\(64 << 20)}")
        let honest = try load(daemon)
        let before = daemon.openSockets
        let stalled = try (0..<2).map { _ in try daemon.http() }
        for (client, fields) in zip(stalled, [[], ["Connection: close"]]) {
            try client.send(
                (0..<9).flatMap { _ in client.request("GET", target) } + client.request("GET", target, fields))
        }
        var looks = 0
        while try honest.call("ServerService/GetStats")["connections"]?["stalled"]?.number ?? 0 < 2, looks < 50_000 {
            looks += 1
        }
        #expect(daemon.openSockets <= before)
        withExtendedLifetime(stalled) {}
    }

    @Test("a client with slow consecutive large messages is not late") func slowLargeMessages() throws {
        let daemon = try DaemonProcess(limits: ["messageSeconds": 1])
        let (client, other) = (try daemon.client(), try daemon.client())
        func uptime() throws -> Double {
            try other.call("ServerService/GetServerInfo")["uptimeSeconds"]?.number ?? 0
        }
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        let id = try client.open("SourceService/ImportFeatures", ["source": "s"])
        let features = Self.features[..<2000].joined(separator: ",")
        let item = RawClient.frame(#"{"id":\#(id),"item":{"features":[\#(features)]}}"#)
        #expect(item.count > 256 << 10)
        // Some of the next message always waits.
        try client.send(Array(item.prefix(9)))
        let start = try uptime()
        var sent = 0
        while try uptime() < start + 3 {
            let last = try uptime()
            while try uptime() < last + 0.4 {}
            try client.send(Array(item.dropFirst(9)) + Array(item.prefix(9)))
            sent += 1
        }
        try client.send(Array(item.dropFirst(9)))
        try client.send(#"{"id":\#(id),"end":true}"#)
        #expect(try client.receive()["result"]?["accepted"] == .number(Double(2000 * (sent + 1))))
    }

    @Test("without free descriptors, clients wait until others disconnect") func descriptors() throws {
        let daemon = try DaemonProcess(descriptors: 48)
        var clients = try (0..<60).map { _ in try daemon.client() }
        for client in clients { try client.open("ServerService/Check") }
        for client in clients[..<16] {
            #expect(try client.receive()["result"] == ["status": "SERVING"])
        }
        #expect(daemon.openDescriptors < 48)
        while clients.count > 16 {
            clients.removeFirst(4)
            for client in clients[12..<16] {
                #expect(try client.receive()["result"] == ["status": "SERVING"])
            }
        }
    }

    @Test("when descriptors run out, accepting pauses and resumes") func exhaustion() throws {
        let daemon = try DaemonProcess()
        let first = try daemon.client()
        #expect(try first.call("ServerService/Check") == ["status": "SERVING"])
        let limit = ["--pid", String(daemon.process.processIdentifier), "--nofile=\(daemon.openDescriptors + 2)"]
        try #require(try DaemonProcess.run("/usr/bin/prlimit", limit).status == 0)
        var clients = try (0..<10).map { _ in try daemon.client() }
        for client in clients { try client.open("ServerService/Check") }
        #expect(try first.call("ServerService/Check") == ["status": "SERVING"])
        for client in clients[..<2] {
            #expect(try client.receive()["result"] == ["status": "SERVING"])
        }
        while clients.count > 2 {
            clients.removeFirst()
            #expect(try clients[1].receive()["result"] == ["status": "SERVING"])
        }
    }

    @Test("a client that half-closes gets all its answers, then the end") func halfClosed() throws {
        let daemon = try DaemonProcess()
        _ = try load(daemon)
        let client = try daemon.client()
        for _ in 0..<20 { try client.open("ClusterService/GetClusters", Self.everything) }
        let unended = try client.open("SourceService/ImportFeatures", ["source": "s"])
        client.finishSending()
        var statuses: [Double: String] = [:]
        for _ in 0..<21 {
            let message = try client.receive()
            statuses[try #require(message["id"]?.number)] = message["error"].map { RawClient.status($0).status } ?? "OK"
        }
        #expect(statuses.removeValue(forKey: Double(unended)) == "CANCELLED")
        #expect(statuses.count == 20)
        #expect(statuses.values.allSatisfy { $0 == "OK" })
        #expect(client.isClosed())
    }

    @Test("many simultaneous connections are all answered, in order") func together() throws {
        let daemon = try DaemonProcess()
        _ = try load(daemon)
        let clients = try (0..<100).map { _ in try daemon.client() }
        for round in 0..<3 {
            var asked: [[Int64]] = []
            for client in clients {
                asked.append(try (0..<3).map { _ in try client.open("ServerService/Check") })
                if round == 2 { client.finishSending() }
            }
            for (client, identifiers) in zip(clients, asked) {
                for identifier in identifiers {
                    let message = try client.receive()
                    #expect(message["id"] == .number(Double(identifier)))
                    #expect(message["result"] == ["status": "SERVING"])
                }
                if round == 2 { #expect(client.isClosed()) }
            }
        }
    }

    @Test("a connection that closes cancels its calls") func closing() throws {
        let daemon = try DaemonProcess()
        let other = try load(daemon)
        func calls(_ client: RawClient) throws -> JSONValue {
            try #require(try client.call("ServerService/GetStats")["calls"]?["inFlight"])
        }
        do {
            let client = try daemon.client()
            let id = try client.open("SourceService/ImportFeatures", ["source": "s"])
            try client.send(#"{"id":\#(id),"item":{"features":[\#(Self.features.joined(separator: ","))]}}"#)
            for _ in 0..<200 { try client.open("ClusterService/GetClusters", Self.everything) }
            _ = try client.receive()
        }
        var looks = 0
        while try calls(other) != 0, looks < 100_000 { looks += 1 }
        #expect(looks < 100_000)
        let errors = try other.call("ServerService/GetStats")["methods"]?[
            "clusterd.v1.SourceService/ImportFeatures"]?["errors"]
        #expect(errors == ["CANCELLED": 1])
        #expect(try other.call("SourceService/GetSource", ["source": "s"])["points"] == 6000)
    }

    @Test("an unreadable message ends the connection's imports, because they may have lost an item")
    func lostItem() throws {
        let daemon = try DaemonProcess()
        let client = try load(daemon)
        let id = try client.open("SourceService/ImportFeatures", ["source": "s", "mode": "append"])
        try client.send(#"{"id":\#(id),"item":{"features":[}}"#)
        #expect(try client.receive()["id"] == .null)
        let message = try client.receive()
        #expect(message["id"] == .number(Double(id)))
        #expect(RawClient.status(message["error"]).status == "INVALID_ARGUMENT")
        try client.send(#"{"id":\#(id),"end":true}"#)
        #expect(try client.call("SourceService/GetSource", ["source": "s"])["points"] == 6000)
    }

    @Test("a large message keeps its order among small ones, and delays no other connection")
    func largeMessages() throws {
        let daemon = try DaemonProcess()
        let (client, other) = (try load(daemon), try daemon.client())
        let id = try client.open("SourceService/ImportFeatures", ["source": "s", "mode": "append"])
        let item = #"{"id":\#(id),"item":{"features":[\#(Self.features.joined(separator: ","))]}}"#
        #expect(item.utf8.count > 512 << 10)
        for _ in 0..<4 {
            try client.send(item)
            #expect(try other.call("ServerService/Check") == ["status": "SERVING"])
        }
        try client.send(#"{"id":\#(id),"end":true}"#)
        #expect(try client.receive()["result"]?["accepted"] == 24000)
        // Large, and of no use: what follows is taken all the same.
        try client.send(String(repeating: " ", count: 1 << 20))
        #expect(try client.receive()["id"] == .null)
        #expect(try client.call("ServerService/Check") == ["status": "SERVING"])
    }

    @Test("statistics show queues, caches and transferred bytes") func statistics() throws {
        let daemon = try DaemonProcess()
        let client = try load(daemon)
        func stats() throws -> JSONValue { try client.call("ServerService/GetStats") }
        #expect(try stats()["queues"] == ["queries": 0, "changes": 0, "messages": 0])
        #expect(try stats()["caches"]?["filters"] == ["hits": 0, "misses": 0, "bytes": 0])
        let filtered: JSONValue = [
            "source": "s", "bbox": Self.world, "zoom": 3, "filter": ["has", "name"], "limit": 1,
        ]
        for _ in 0..<3 { _ = try client.call("ClusterService/GetClusters", filtered) }
        let filters = try stats()["caches"]?["filters"]
        #expect(filters?["hits"] == 2)
        #expect(filters?["misses"] == 1)
        #expect(filters?["bytes"]?.number ?? 0 > 0)
        let columns = try stats()["caches"]?["columns"]
        #expect(columns?["hits"] == 0)
        #expect(columns?["misses"] == 1)
        #expect(columns?["bytes"]?.number ?? 0 > 0)
        // Clusters so large that their hulls are worth keeping.
        _ = try client.call("SourceService/CreateSource", ["source": "t", "options": ["radius": 500]])
        _ = try client.importFeatures("t", Self.features, batch: 2000)
        let world = try client.call(
            "ClusterService/GetClusters", ["source": "t", "bbox": Self.world, "zoom": 0, "limit": 1])
        let cluster = try #require(world["features"]?.array?.first?["id"])
        for _ in 0..<2 {
            _ = try client.call("ClusterService/GetConvexHull", ["source": "t", "clusterId": cluster])
        }
        #expect(try stats()["caches"]?["hulls"] == ["hits": 1, "misses": 1])
        let text = try client.call("ServerService/GetStats", ["format": "prometheus"])["text"]?.string ?? ""
        #expect(text.contains("clusterd_cache_hits_total{cache=\"filters\"} 2\n"))
        #expect(text.contains("clusterd_queued_jobs{kind=\"messages\"} 0\n"))
        #expect(text.contains("# TYPE clusterd_call_duration_seconds histogram\n"))
        #expect(text.contains("_bucket{method=\"clusterd.v1.ClusterService/GetConvexHull\",le=\"+Inf\"} 2\n"))
    }

    @Test("transferred bytes and calls in flight are counted at once") func countedAtOnce() throws {
        let daemon = try DaemonProcess()
        let (client, other) = (try daemon.client(), try daemon.client())
        _ = try client.call("SourceService/CreateSource", ["source": "s", "options": [:]])
        _ = try client.open("SourceService/ImportFeatures", ["source": "s"])
        _ = try client.open("ServerService/Check")
        let answer = try client.receiveText()
        for reader in [client, other] {
            let stats = try reader.call("ServerService/GetStats")
            #expect(stats["calls"]?["inFlight"] == 1)
            #expect(stats["bytes"]?["received"]?.number ?? 0 > 150)
            #expect(stats["bytes"]?["sent"]?.number ?? 0 >= Double(answer.count))
            let check = stats["methods"]?["clusterd.v1.ServerService/Check"]
            #expect(check?["latencyMs"]?["histogram"]?.array?.last?["count"] == 1)
        }
    }

    @Test("open calls are charged with their params' memory") func openCallsAreCharged() throws {
        let daemon = try DaemonProcess(limits: ["maxInputBytes": 1 << 20])
        let client = try load(daemon)
        // Names of properties: about 30 KiB of text, 200 KiB parsed.
        let names = JSONValue.array((0..<3000).map { .string("name\($0)") })
        let watch: JSONValue = ["source": "s", "bbox": Self.world, "zoom": 0, "properties": names]
        var holder: RawClient? = try daemon.client()
        var (open, refused) = (0, 0)
        for _ in 0..<12 {
            try holder?.open("ClusterService/WatchClusters", watch)
            let answer = try holder?.receive()
            if answer?["item"] != nil {
                open += 1
            } else {
                #expect(RawClient.status(answer?["error"]).status == "RESOURCE_EXHAUSTED")
                refused += 1
            }
        }
        #expect(open > 0)
        #expect(refused > 0)
        // Small calls are answered all the same; large ones again once the others are over.
        #expect(try client.call("ServerService/Check") == ["status": "SERVING"])
        holder = nil
        var isTaken = false
        for _ in 0..<10_000 where !isTaken {
            try client.open("ClusterService/WatchClusters", watch)
            isTaken = try client.receive()["item"] != nil
        }
        #expect(isTaken)
    }
}
