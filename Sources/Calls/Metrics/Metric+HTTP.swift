// SPDX-License-Identifier: MIT
import Synchronization

extension Metric {
    /// The numbers of the HTTP interface; none if it is off.
    static let http: [Metric] =
        (1...5).map { digit in
            Metric(
                "http.requests.\(digit)xx", "clusterd_http_requests_total", .counter,
                label: "status=\"\(digit)xx\"",
                "HTTP responses, by status."
            ) { $0.http.map { Double($0.requests(digit)) } }
        } + [
            Metric("http.connections", "clusterd_http_connections", .gauge, "Open HTTP connections.") {
                $0.http.map { Double($0.connections.load(ordering: .relaxed)) }
            },
            watches("webSocket", "webSockets") { $0.webSockets.load(ordering: .relaxed) },
            watches("events", "eventStreams") { $0.eventStreams.load(ordering: .relaxed) },
            Metric(
                "http.tiles.hits", "clusterd_http_tile_hits_total", .counter,
                "Tiles answered from the cache."
            ) { $0.http.map { Double($0.tileHits.load(ordering: .relaxed)) } },
            Metric(
                "http.tiles.bytes", "clusterd_http_tile_bytes", .gauge, "Memory of the tile cache."
            ) {
                $0.http.map { Double($0.tileBytes.load(ordering: .relaxed)) }
            },
        ]

    private static func watches(
        _ form: String, _ member: String, _ count: @escaping @Sendable (HTTPCounters) -> Int
    ) -> Metric {
        Metric(
            "http.\(member)", "clusterd_http_watches", .gauge, label: "form=\"\(form)\"",
            "Open watches over HTTP, by form."
        ) { $0.http.map { Double(count($0)) } }
    }
}
