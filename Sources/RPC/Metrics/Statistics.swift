// SPDX-License-Identifier: MIT
import Responses
import Glibc
import JSON
import SourceEngine

/// The answer of `GetStats`, in its two forms.
package struct Statistics {
    let counters: Metrics.Counters
    private let metrics: [Metric]
    let sources: [SourceDescription]
    let caches: (filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics)
    /// Updates of features: how many changed only the affected part of the index, and how many rebuilt it.
    let updates: (followed: Int, rebuilt: Int)
    let uptimeSeconds: Double
    let memoryBytes: Int
    let pageBytes: Int

    /// What is counted of all sources together.
    struct SourceCounts {
        let caches: (filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics)
        let updates: (followed: Int, rebuilt: Int)
        let pageBytes: Int
    }

    /// - Parameter sources: those that the caller sees.
    init(_ status: ServerStatus, _ counts: SourceCounts, _ sources: [SourceDescription]) {
        counters = status.metrics.counters
        metrics = Metric.all + status.metrics.ofTransports
        self.sources = sources
        (caches, updates, pageBytes) = (counts.caches, counts.updates, counts.pageBytes)
        uptimeSeconds = status.uptimeSeconds
        memoryBytes = ProcessMemory.residentBytes()
    }

    private var methods: [(name: String, method: Metrics.MethodCounters)] {
        counters.methods.map { (name: $0.key, method: $0.value) }.sorted { $0.name < $1.name }
    }

    // MARK: JSON

    var json: JSONObject {
        var object = JSONObject()
        for metric in metrics {
            guard let value = metric.value(self) else { continue }
            Self.set(metric.path.split(separator: ".")[...], .number(value), in: &object)
        }
        object["methods"] = .object(JSONObject(methods.map { ($0.name, Self.json($0.method)) }))
        object["sources"] = .array(sources.map(Self.json))
        return object
    }

    /// Sets a nested member, such as `caches.filters.hits`.
    private static func set(_ path: ArraySlice<Substring>, _ value: JSONValue, in object: inout JSONObject) {
        guard let first = path.first.map(String.init) else { return }
        guard path.count > 1 else { return object[first] = value }
        var inner = JSONObject()
        if case .object(let found)? = object[first] { inner = found }
        set(path.dropFirst(), value, in: &inner)
        object[first] = .object(inner)
    }

    private static func json(_ method: Metrics.MethodCounters) -> JSONValue {
        func milliseconds(_ nanoseconds: UInt64) -> JSONValue { .number(Double(nanoseconds) / 1e6) }
        let latency = method.latency
        let errors = method.errors.sorted { $0.key < $1.key }.map {
            ($0.key, JSONValue.number(Double($0.value)))
        }
        return [
            "calls": .number(Double(method.calls)), "errors": .object(JSONObject(errors)),
            "latencyMs": [
                "p50": milliseconds(latency.quantile(0.5)), "p90": milliseconds(latency.quantile(0.9)),
                "p99": milliseconds(latency.quantile(0.99)), "max": milliseconds(latency.maximum),
                "histogram": .array(
                    latency.cumulative.map { ["le": milliseconds($0.bound), "count": .number(Double($0.count))] }),
            ],
        ]
    }

    private static func json(_ source: SourceDescription) -> JSONValue {
        var object: JSONObject = ["source": .string(source.name), "state": .string(source.state.rawValue)]
        for metric in SourceMetric.all {
            guard let member = metric.member, let value = metric.value(source) else { continue }
            object[member] = .number(value)
        }
        object["replication"] = source.part == nil ? source.replicationJSON : nil
        return .object(object)
    }

    // MARK: Prometheus

    /// The text format that Prometheus scrapes (version 0.0.4).
    var prometheus: String {
        var text = PrometheusText()
        for metric in metrics {
            guard let name = metric.name, let value = metric.value(self) else { continue }
            text.begin(name, metric.kind.rawValue, metric.help)
            text.sample(name, metric.label, value)
        }
        write(methods, into: &text)
        for metric in SourceMetric.all {
            let samples = sources.compactMap { source in metric.value(source).map { (source, $0) } }
            // A family without samples is left out, unless every source has the metric.
            guard metric.member != nil || !samples.isEmpty else { continue }
            text.begin(metric.name, "gauge", metric.help)
            for (source, value) in samples {
                text.sample(metric.name, "source=\"\(source.name)\"", value)
            }
        }
        return text.text
    }

    private func write(_ methods: [(name: String, method: Metrics.MethodCounters)], into text: inout PrometheusText) {
        text.begin("clusterd_calls_total", "counter", "Calls answered, by method.")
        for (name, method) in methods {
            text.sample("clusterd_calls_total", "method=\"\(name)\"", Double(method.calls))
        }
        text.begin("clusterd_call_errors_total", "counter", "Calls that failed, by method and status.")
        for (name, method) in methods {
            for (status, count) in method.errors.sorted(by: { $0.key < $1.key }) {
                text.sample("clusterd_call_errors_total", "method=\"\(name)\",status=\"\(status)\"", Double(count))
            }
        }
        text.begin("clusterd_call_seconds", "summary", "How long calls took.")
        for (name, method) in methods { text.summary("clusterd_call_seconds", name, method.latency) }
        // A Prometheus histogram, from which it computes quantiles over any period and any number of daemons.
        text.begin("clusterd_call_duration_seconds", "histogram", "How long calls took, in buckets.")
        for (name, method) in methods {
            text.histogram("clusterd_call_duration_seconds", name, method.latency)
        }
    }
}

/// This process's memory.
public enum ProcessMemory {
    /// Resident memory in bytes, from /proc/self/statm; 0 if that cannot be read.
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
