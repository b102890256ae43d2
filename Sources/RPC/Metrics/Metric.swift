// SPDX-License-Identifier: MIT
import Responses
import SourceEngine

/// One number that `GetStats` reports, both in its JSON and in Prometheus's text.
package struct Metric: Sendable {
    package enum Kind: String, Sendable { case gauge, counter }

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
            Metric("connections.opened", "clusterd_connections_opened_total", .counter, "Connections accepted.") {
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
        ]
        + each(
            WireProtocol.allCases.map { wire in
                ("\(wire)", { Double($0.counters.callsByProtocol[wire.rawValue]) })
            }, "calls", "clusterd_calls_by_protocol_total", .counter, by: "protocol",
            "Calls answered, by the protocol that carried them.")
        + [
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
        ]
        + each(
            [
                ("queries", { Double($0.counters.queued.queries) }),
                ("changes", { Double($0.counters.queued.changes) }),
                ("messages", { Double($0.counters.queued.messages) }),
            ], "queues", "clusterd_queued_jobs", .gauge, by: "kind", "Jobs that wait for a thread, by kind.")
        + each(
            [("followed", { Double($0.updates.followed) }), ("rebuilt", { Double($0.updates.rebuilt) })],
            "updates", "clusterd_updates_total", .counter, by: "kind",
            "Updates of single features, by how they were done.")
        + eachCache(
            "hits", "clusterd_cache_hits_total", .counter, "Look-ups that found an entry, by cache."
        ) { Double($0.hits) }
        + eachCache(
            "misses", "clusterd_cache_misses_total", .counter, "Look-ups that found no entry, by cache."
        ) { Double($0.misses) }
        + eachCache("bytes", "clusterd_cache_bytes", .gauge, "Bytes of entries, by cache.") {
            $0.bytes.map { Double($0) }
        }

    /// Metrics of one name that differ by a label, each with its value of it.
    private static func each(
        _ values: [(word: String, value: @Sendable (Statistics) -> Double?)], _ path: String,
        member: String = "", _ name: String, _ kind: Kind, by label: String, _ help: String
    ) -> [Metric] {
        values.map { word, value in
            Metric("\(path).\(word)\(member)", name, kind, label: "\(label)=\"\(word)\"", help, value: value)
        }
    }

    private static func eachCache(
        _ member: String, _ name: String, _ kind: Kind, _ help: String,
        _ value: @escaping @Sendable (CacheStatistics) -> Double?
    ) -> [Metric] {
        each(
            [
                ("filters", { value($0.caches.filters) }), ("columns", { value($0.caches.columns) }),
                ("hulls", { value($0.caches.hulls) }),
            ], "caches", member: ".\(member)", name, kind, by: "cache", help)
    }
}
