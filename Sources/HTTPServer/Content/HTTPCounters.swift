// SPDX-License-Identifier: MIT
import RPC
import Synchronization

/// What the HTTP interface has done, over all loops. Safe from any thread.
final class HTTPCounters: Sendable {
    /// Responses by the first digit of their status, from 1.
    private let responses = InlineArray<5, Atomic<UInt64>> { _ in Atomic(0) }
    let connections = Atomic<Int>(0)
    let webSockets = Atomic<Int>(0)
    let eventStreams = Atomic<Int>(0)
    /// Requests answered from cached tiles, and the bytes that these tiles use.
    let tileHits = Atomic<UInt64>(0)
    let tileBytes = Atomic<Int>(0)

    init() {}

    /// Counts a response.
    func count(status: Int) { responses[max(1, min(5, status / 100)) - 1].add(1, ordering: .relaxed) }

    /// Responses whose status begins with a digit from 1 to 5.
    func requests(_ digit: Int) -> UInt64 { responses[digit - 1].load(ordering: .relaxed) }

    /// What `GetStats` reports of it.
    var metrics: [Metric] {
        (1...5).map { digit in
            Metric(
                "http.requests.\(digit)xx", "clusterd_http_requests_total", .counter,
                label: "status=\"\(digit)xx\"", "HTTP responses, by status."
            ) { [self] _ in Double(requests(digit)) }
        } + [
            Metric("http.connections", "clusterd_http_connections", .gauge, "Open HTTP connections.") {
                [self] _ in Double(connections.load(ordering: .relaxed))
            },
            watches("webSocket", "webSockets") { [self] in webSockets.load(ordering: .relaxed) },
            watches("events", "eventStreams") { [self] in eventStreams.load(ordering: .relaxed) },
            Metric(
                "http.tiles.hits", "clusterd_http_tile_hits_total", .counter, "Tiles answered from the cache."
            ) { [self] _ in Double(tileHits.load(ordering: .relaxed)) },
            Metric("http.tiles.bytes", "clusterd_http_tile_bytes", .gauge, "Memory of the tile cache.") {
                [self] _ in Double(tileBytes.load(ordering: .relaxed))
            },
        ]
    }

    private func watches(_ form: String, _ member: String, _ count: @escaping @Sendable () -> Int) -> Metric {
        Metric(
            "http.\(member)", "clusterd_http_watches", .gauge, label: "form=\"\(form)\"",
            "Open watches over HTTP, by form."
        ) { _ in Double(count()) }
    }
}
