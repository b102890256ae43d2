// SPDX-License-Identifier: MIT
import RPC
import Synchronization

/// What the HTTP interface has done, over all loops. Safe from any thread.
final class HTTPCounters: Sendable {
    /// Responses by the first digit of their status: 1xx here, then the others.
    private let informed = Atomic<UInt64>(0)
    private let succeeded = Atomic<UInt64>(0)
    private let redirected = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)
    private let failed = Atomic<UInt64>(0)
    let connections = Atomic<Int>(0)
    let webSockets = Atomic<Int>(0)
    let eventStreams = Atomic<Int>(0)
    /// Requests answered from cached tiles, and the bytes that these tiles use.
    let tileHits = Atomic<UInt64>(0)
    let tileBytes = Atomic<Int>(0)

    init() {}

    /// Counts a response.
    func count(status: Int) {
        switch status / 100 {
        case 1: informed.add(1, ordering: .relaxed)
        case 2: succeeded.add(1, ordering: .relaxed)
        case 3: redirected.add(1, ordering: .relaxed)
        case 4: refused.add(1, ordering: .relaxed)
        default: failed.add(1, ordering: .relaxed)
        }
    }

    /// Responses whose status begins with a digit from 1 to 5.
    func requests(_ digit: Int) -> UInt64 {
        switch digit {
        case 1: informed.load(ordering: .relaxed)
        case 2: succeeded.load(ordering: .relaxed)
        case 3: redirected.load(ordering: .relaxed)
        case 4: refused.load(ordering: .relaxed)
        default: failed.load(ordering: .relaxed)
        }
    }
}

extension HTTPCounters {
    /// What `GetStats` reports of it.
    var metrics: [TransportMetric] {
        (1...5).map { digit in
            TransportMetric(
                "http.requests.\(digit)xx", "clusterd_http_requests_total", .counter,
                label: "status=\"\(digit)xx\"", "HTTP responses, by status."
            ) { [self] in Double(requests(digit)) }
        } + [
            TransportMetric("http.connections", "clusterd_http_connections", .gauge, "Open HTTP connections.")
            {
                [self] in Double(connections.load(ordering: .relaxed))
            },
            watches("webSocket", "webSockets") { [self] in webSockets.load(ordering: .relaxed) },
            watches("events", "eventStreams") { [self] in eventStreams.load(ordering: .relaxed) },
            TransportMetric(
                "http.tiles.hits", "clusterd_http_tile_hits_total", .counter, "Tiles answered from the cache."
            ) { [self] in Double(tileHits.load(ordering: .relaxed)) },
            TransportMetric(
                "http.tiles.bytes", "clusterd_http_tile_bytes", .gauge, "Memory of the tile cache."
            ) { [self] in Double(tileBytes.load(ordering: .relaxed)) },
        ]
    }

    private func watches(
        _ form: String, _ member: String, _ count: @escaping @Sendable () -> Int
    ) -> TransportMetric {
        TransportMetric(
            "http.\(member)", "clusterd_http_watches", .gauge, label: "form=\"\(form)\"",
            "Open watches over HTTP, by form."
        ) { Double(count()) }
    }
}
