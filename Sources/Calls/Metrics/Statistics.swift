// SPDX-License-Identifier: MIT
import Answers
import Sources
import SystemSupport
import Glibc
import JSON

/// What `GetStats` answers, in its two forms.
struct Statistics {
    let counters: Metrics.Counters
    let sources: [ServerService.SourceStatistics]
    let caches: (filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics)
    /// Updates of single features that only looked at what they changed, and those that clustered anew.
    let updates: (followed: Int, rebuilt: Int)
    let uptimeSeconds: Double
    let memoryBytes: Int

    var json: JSONObject {
        [
            "uptimeSeconds": .number(uptimeSeconds), "memoryBytes": .number(Double(memoryBytes)),
            "connections": [
                "open": .number(Double(counters.connections)),
                "opened": .number(Double(counters.connectionsOpened)),
            ],
            "calls": [
                "inFlight": .number(Double(counters.callsInFlight)),
                "total": .number(Double(counters.methods.values.reduce(0) { $0 + $1.calls })),
                "protocolErrors": .number(Double(counters.protocolErrors)),
            ],
            "bytes": [
                "received": .number(Double(counters.bytesReceived)),
                "sent": .number(Double(counters.bytesSent)),
                "queued": .number(Double(counters.bytesQueued)),
            ],
            "queues": [
                "queries": .number(Double(counters.queued.queries)),
                "changes": .number(Double(counters.queued.changes)),
                "messages": .number(Double(counters.queued.messages)),
            ],
            "updates": [
                "followed": .number(Double(updates.followed)), "rebuilt": .number(Double(updates.rebuilt)),
            ],
            "caches": [
                "filters": Self.json(caches.filters), "columns": Self.json(caches.columns),
                "hulls": Self.json(caches.hulls),
            ],
            "methods": .object(JSONObject(methods.map { ($0.name, Self.json($0.method)) })),
            "sources": .array(sources.map(Self.json)),
        ]
    }

    private var methods: [(name: String, method: Metrics.Method)] {
        counters.methods.map { (name: $0.key, method: $0.value) }.sorted { $0.name < $1.name }
    }

    private static func json(_ method: Metrics.Method) -> JSONValue {
        func milliseconds(_ nanoseconds: UInt64) -> JSONValue { .number(Double(nanoseconds) / 1e6) }
        let latency = method.latency
        return [
            "calls": .number(Double(method.calls)),
            "errors": .object(
                JSONObject(
                    method.errors.sorted { $0.key < $1.key }.map {
                        ($0.key, JSONValue.number(Double($0.value)))
                    })),
            "latencyMs": [
                "p50": milliseconds(latency.quantile(0.5)), "p90": milliseconds(latency.quantile(0.9)),
                "p99": milliseconds(latency.quantile(0.99)), "max": milliseconds(latency.maximum),
                "histogram": .array(
                    latency.cumulative.map {
                        ["le": milliseconds($0.bound), "count": .number(Double($0.count))]
                    }),
            ],
        ]
    }

    private static func json(_ cache: CacheStatistics) -> JSONValue {
        var object: JSONObject = [
            "hits": .number(Double(cache.hits)), "misses": .number(Double(cache.misses)),
        ]
        object["bytes"] = cache.bytes.map { .number(Double($0)) }
        return .object(object)
    }

    private static func json(_ source: ServerService.SourceStatistics) -> JSONValue {
        [
            "source": .string(source.name), "points": .number(Double(source.points)),
            "memoryBytes": .number(Double(source.memoryBytes)), "revision": .number(Double(source.revision)),
        ]
    }

    /// The text format that Prometheus scrapes (version 0.0.4).
    var prometheus: String {
        var text = ""
        func family(
            _ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: Double)]
        ) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
            for sample in samples {
                text +=
                    name + (sample.labels.isEmpty ? "" : "{\(sample.labels)}")
                    + " \(String(javaScript: sample.value))\n"
            }
        }
        family("clusterd_uptime_seconds", "gauge", "Seconds since the start.", [("", uptimeSeconds)])
        family("clusterd_memory_bytes", "gauge", "Resident memory.", [("", Double(memoryBytes))])
        family("clusterd_connections", "gauge", "Open connections.", [("", Double(counters.connections))])
        family(
            "clusterd_connections_opened_total", "counter", "Connections accepted.",
            [("", Double(counters.connectionsOpened))])
        family(
            "clusterd_calls_in_flight", "gauge", "Calls not answered yet.",
            [("", Double(counters.callsInFlight))])
        family(
            "clusterd_received_bytes_total", "counter", "Bytes read.", [("", Double(counters.bytesReceived))])
        family("clusterd_sent_bytes_total", "counter", "Bytes written.", [("", Double(counters.bytesSent))])
        family(
            "clusterd_queued_bytes", "gauge", "Bytes of answers that wait for their clients.",
            [("", Double(counters.bytesQueued))])
        family(
            "clusterd_queued_jobs", "gauge", "What waits for a thread, by kind.",
            [
                ("kind=\"queries\"", Double(counters.queued.queries)),
                ("kind=\"changes\"", Double(counters.queued.changes)),
                ("kind=\"messages\"", Double(counters.queued.messages)),
            ])
        family(
            "clusterd_updates_total", "counter", "Updates of single features, by how they were done.",
            [
                ("kind=\"followed\"", Double(updates.followed)),
                ("kind=\"rebuilt\"", Double(updates.rebuilt)),
            ])
        family(
            "clusterd_cache_hits_total", "counter", "What was kept and asked for again, by cache.",
            [
                ("cache=\"filters\"", Double(caches.filters.hits)),
                ("cache=\"columns\"", Double(caches.columns.hits)),
                ("cache=\"hulls\"", Double(caches.hulls.hits)),
            ])
        family(
            "clusterd_cache_misses_total", "counter", "What had to be made first, by cache.",
            [
                ("cache=\"filters\"", Double(caches.filters.misses)),
                ("cache=\"columns\"", Double(caches.columns.misses)),
                ("cache=\"hulls\"", Double(caches.hulls.misses)),
            ])
        family(
            "clusterd_cache_bytes", "gauge", "What is kept, by cache.",
            [
                ("cache=\"filters\"", Double(caches.filters.bytes ?? 0)),
                ("cache=\"columns\"", Double(caches.columns.bytes ?? 0)),
            ])
        family(
            "clusterd_protocol_errors_total", "counter", "Messages and streams that could not be read.",
            [("", Double(counters.protocolErrors))])
        family(
            "clusterd_calls_total", "counter", "Calls answered, by method.",
            methods.map { ("method=\"\($0.name)\"", Double($0.method.calls)) })
        family(
            "clusterd_call_errors_total", "counter", "Calls that failed, by method and status.",
            methods.flatMap { method in
                method.method.errors.sorted { $0.key < $1.key }.map {
                    ("method=\"\(method.name)\",status=\"\($0.key)\"", Double($0.value))
                }
            })
        text += "# HELP clusterd_call_seconds How long calls took.\n# TYPE clusterd_call_seconds summary\n"
        for (name, method) in methods {
            for share in [0.5, 0.9, 0.99] {
                let seconds = Double(method.latency.quantile(share)) / 1e9
                text +=
                    "clusterd_call_seconds{method=\"\(name)\",quantile=\"\(share)\"} \(String(javaScript: seconds))\n"
            }
            text +=
                "clusterd_call_seconds_sum{method=\"\(name)\"} \(String(javaScript: Double(method.latency.sum) / 1e9))\n"
            text += "clusterd_call_seconds_count{method=\"\(name)\"} \(method.latency.count)\n"
        }
        text += latencyHistograms
        family(
            "clusterd_source_points", "gauge", "Points, by source.",
            sources.map { ("source=\"\($0.name)\"", Double($0.points)) })
        family(
            "clusterd_source_memory_bytes", "gauge", "Memory, by source.",
            sources.map { ("source=\"\($0.name)\"", Double($0.memoryBytes)) })
        return text
    }
}

extension Statistics {
    /// Prometheus's own kind of histogram, of which it makes quantiles over any time and many daemons.
    private var latencyHistograms: String {
        let name = "clusterd_call_duration_seconds"
        var text = "# HELP \(name) How long calls took, in buckets.\n# TYPE \(name) histogram\n"
        for (method, counted) in methods {
            let label = "method=\"\(method)\""
            let latency = counted.latency
            for (bound, count) in latency.cumulative {
                text +=
                    "\(name)_bucket{\(label),le=\"\(String(javaScript: Double(bound) / 1e9))\"} \(count)\n"
            }
            text += "\(name)_bucket{\(label),le=\"+Inf\"} \(latency.count)\n"
            text += "\(name)_sum{\(label)} \(String(javaScript: Double(latency.sum) / 1e9))\n"
            text += "\(name)_count{\(label)} \(latency.count)\n"
        }
        return text
    }
}

/// This process's memory.
public enum ProcessMemory {
    /// What is resident, in bytes, by /proc/self/statm; 0 where that cannot be read.
    public static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
        let fields = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
