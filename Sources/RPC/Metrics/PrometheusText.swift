// SPDX-License-Identifier: MIT
import JSON
import SystemSupport

/// Writes Prometheus's text format (version 0.0.4).
struct PrometheusText {
    private(set) var text = ""
    private var family = ""

    /// Begins a family of samples, unless it is the current one.
    mutating func begin(_ name: String, _ kind: String, _ help: String) {
        guard family != name else { return }
        family = name
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// - Parameter labels: such as `method="Check"`; empty if there are none.
    mutating func sample(_ name: String, _ labels: String, _ value: Double) {
        text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(String(javaScript: value))\n"
    }

    mutating func summary(_ name: String, _ method: String, _ latency: LatencyHistogram) {
        let label = "method=\"\(method)\""
        for share in [0.5, 0.9, 0.99] {
            sample(name, "\(label),quantile=\"\(share)\"", Double(latency.quantile(share)) / 1e9)
        }
        total(name, label, latency)
    }

    mutating func histogram(_ name: String, _ method: String, _ latency: LatencyHistogram) {
        let label = "method=\"\(method)\""
        for (bound, count) in latency.cumulative {
            sample("\(name)_bucket", "\(label),le=\"\(String(javaScript: Double(bound) / 1e9))\"", Double(count))
        }
        sample("\(name)_bucket", "\(label),le=\"+Inf\"", Double(latency.count))
        total(name, label, latency)
    }

    private mutating func total(_ name: String, _ label: String, _ latency: LatencyHistogram) {
        sample("\(name)_sum", label, Double(latency.sum) / 1e9)
        sample("\(name)_count", label, Double(latency.count))
    }
}
