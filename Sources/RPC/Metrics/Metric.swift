// SPDX-License-Identifier: MIT
import Responses
import SourceEngine

/// One number that `GetStats` reports, both in its JSON and in Prometheus's text.
package struct Metric: Sendable {
    package enum Kind: String, Sendable {
        case gauge, counter
    }

    let path: String
    let name: String?
    let label: String
    let kind: Kind
    let help: String
    let value: @Sendable (Statistics) -> Double?

    /// - Parameters:
    ///   - path: its member in the JSON, such as `calls.inFlight`.
    ///   - name: its name for Prometheus; nil if only the JSON has it. Metrics with the same name differ by label.
    ///   - label: such as `kind="queries"`; empty if it has none.
    ///   - value: the value, nil if there is none. Called on any thread.
    package init(
        _ path: String, _ name: String?, _ kind: Kind, label: String = "", _ help: String,
        value: @escaping @Sendable (Statistics) -> Double?
    ) {
        self.path = path
        self.name = name
        self.kind = kind
        self.label = label
        self.help = help
        self.value = value
    }
}

extension Metric {
    /// All numbers of the server as a whole, in the order of the JSON.
    static let all: [Metric] =
        [
            Metric("uptimeSeconds", "clusterd_uptime_seconds", .gauge, "Seconds since the start.") {
                $0.uptimeSeconds
            },
            Metric("memoryBytes", "clusterd_memory_bytes", .gauge, "Resident memory.") {
                Double($0.memoryBytes)
            },
            Metric(
                "pageBytes", "clusterd_page_bytes", .gauge,
                "Memory of pages of snapshots, which are read when they are needed and evicted under limits.memoryBytes. A part of the resident memory."
            ) { Double($0.pageBytes) },
            Metric("connections.open", "clusterd_connections", .gauge, "Open connections.") {
                Double($0.counters.connections)
            },
            Metric(
                "connections.opened", "clusterd_connections_opened_total", .counter, "Connections accepted."
            ) {
                Double($0.counters.connectionsOpened)
            },
            Metric(
                "connections.stalled", "clusterd_connections_stalled_total", .counter,
                "Connections closed because they stopped reading or sending."
            ) { Double($0.counters.connectionsStalled) },
            Metric("calls.inFlight", "clusterd_calls_in_flight", .gauge, "Calls not answered yet.") {
                Double($0.counters.callsInFlight)
            },
            Metric("calls.total", nil, .counter, "Calls answered.") {
                Double($0.counters.methods.values.reduce(0) { $0 + $1.calls })
            },
            Metric(
                "calls.protocolErrors", "clusterd_protocol_errors_total", .counter,
                "Messages and streams that could not be read."
            ) { Double($0.counters.protocolErrors) },
            Metric("bytes.received", "clusterd_received_bytes_total", .counter, "Bytes read.") {
                Double($0.counters.bytesReceived)
            },
            Metric("bytes.sent", "clusterd_sent_bytes_total", .counter, "Bytes written.") {
                Double($0.counters.bytesSent)
            },
            Metric(
                "bytes.queued", "clusterd_queued_bytes", .gauge,
                "Bytes of answers that wait for their clients."
            ) { Double($0.counters.bytesQueued) },
            Metric(
                "bytes.input", "clusterd_input_bytes", .gauge,
                "Bytes of messages that are incomplete or being parsed."
            ) { Double($0.counters.bytesInput) },
            Metric(
                "pollingSeconds", "clusterd_polling_seconds_total", .counter,
                "Processor time of loop threads that polled for the next message instead of sleeping."
            ) { Double($0.counters.pollingNanoseconds) / 1e9 },
            queued("queries") { Double($0.queries) },
            queued("changes") { Double($0.changes) },
            queued("messages") { Double($0.messages) },
            updates("followed") { Double($0.followed) },
            updates("rebuilt") { Double($0.rebuilt) },
            cacheHits("filters") { $0.caches.filters }, cacheHits("columns") { $0.caches.columns },
            cacheHits("hulls") { $0.caches.hulls },
            cacheMisses("filters") { $0.caches.filters }, cacheMisses("columns") { $0.caches.columns },
            cacheMisses("hulls") { $0.caches.hulls },
            cacheBytes("filters") { $0.caches.filters }, cacheBytes("columns") { $0.caches.columns },
        ]

    private static func queued(
        _ kind: String, _ value: @escaping @Sendable (Metrics.QueueDepths) -> Double
    ) -> Metric {
        Metric(
            "queues.\(kind)", "clusterd_queued_jobs", .gauge, label: "kind=\"\(kind)\"",
            "Jobs that wait for a thread, by kind."
        ) { value($0.counters.queued) }
    }

    private static func updates(
        _ kind: String, _ value: @escaping @Sendable ((followed: Int, rebuilt: Int)) -> Double
    ) -> Metric {
        Metric(
            "updates.\(kind)", "clusterd_updates_total", .counter, label: "kind=\"\(kind)\"",
            "Updates of single features, by how they were done."
        ) { value($0.updates) }
    }

    private static func cacheHits(
        _ cache: String, _ of: @escaping @Sendable (Statistics) -> CacheStatistics
    ) -> Metric {
        Metric(
            "caches.\(cache).hits", "clusterd_cache_hits_total", .counter, label: "cache=\"\(cache)\"",
            "Look-ups that found an entry, by cache."
        ) { Double(of($0).hits) }
    }

    private static func cacheMisses(
        _ cache: String, _ of: @escaping @Sendable (Statistics) -> CacheStatistics
    ) -> Metric {
        Metric(
            "caches.\(cache).misses", "clusterd_cache_misses_total", .counter, label: "cache=\"\(cache)\"",
            "Look-ups that found no entry, by cache."
        ) { Double(of($0).misses) }
    }

    private static func cacheBytes(
        _ cache: String, _ of: @escaping @Sendable (Statistics) -> CacheStatistics
    ) -> Metric {
        Metric(
            "caches.\(cache).bytes", "clusterd_cache_bytes", .gauge, label: "cache=\"\(cache)\"",
            "Bytes of entries, by cache."
        ) { of($0).bytes.map { Double($0) } }
    }
}
