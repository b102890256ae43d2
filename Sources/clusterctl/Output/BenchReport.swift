// SPDX-License-Identifier: MIT
import Bench
import Rendering
import JSON
import SystemSupport

/// The figures of a benchmark, for people and for programs.
struct BenchReport {
    let title: String
    let result: LoadResult

    private static let shares: [(String, Double)] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)]

    private var averageBytes: Double {
        result.answers > 0 ? Double(result.bytes) / Double(result.answers) : 0
    }

    var json: JSONObject {
        let octaves = result.latency.octaves.map { octave in
            JSONValue.object(["fromMs": .number(Double(octave.from) / 1e6), "count": .number(Double(octave.count))])
        }
        return [
            "target": .string(title), "answers": .number(Double(result.answers)),
            "errors": .number(Double(result.errors)), "seconds": .number(result.seconds),
            "perSecond": .number(result.rate), "bytes": .number(Double(result.bytes)),
            "averageBytes": .number(averageBytes), "latencyMs": .object(Self.json(result.latency)),
            "histogram": .array(octaves),
        ]
    }

    /// Quantiles in milliseconds.
    static func json(_ latency: LatencyHistogram) -> JSONObject {
        var object: JSONObject = [:]
        for (name, share) in shares { object[name] = .number(Double(latency.quantile(share)) / 1e6) }
        object["max"] = .number(Double(latency.maximum) / 1e6)
        return object
    }

    func text(style: Style) -> String {
        let rate = Double(result.bytes) / max(result.seconds, 1e-9)
        var entries = [
            ("target", title), ("rate", "\(Quantity.grouped(Int(result.rate))) answers/s, \(Quantity.bytes(rate))/s"),
            (
                "answers",
                "\(Quantity.grouped(result.answers)) in \(Quantity.fixed(result.seconds, decimals: 2)) s, "
                    + "\(Quantity.bytes(averageBytes)) each"
            ),
            ("errors", Quantity.grouped(result.errors)),
        ]
        if result.lostConnections > 0 { entries.append(("lost connections", String(result.lostConnections))) }
        entries.append(("latency", Self.quantiles(result.latency)))
        return DescriptionList.text(entries, style: style) + "\n" + bars(style)
    }

    static func quantiles(_ latency: LatencyHistogram) -> String {
        let quantiles = shares.map { "\($0.0) \(time(latency.quantile($0.1)))" }
        return (quantiles + ["max \(time(latency.maximum))"]).joined(separator: "  ")
    }

    private func bars(_ style: Style) -> String {
        let octaves = result.latency.octaves
        let most = octaves.map(\.count).max() ?? 0
        guard most > 0 else { return "" }
        return octaves.map { octave in
            let label = Self.time(octave.from)
            let bar = String(repeating: "█", count: octave.count * 50 / most)
            let padding = String(repeating: " ", count: max(0, 10 - DisplayWidth.of(label)))
            return "\(padding)\(label)  \(style.green(bar)) \(Quantity.grouped(octave.count))\n"
        }.joined()
    }

    private static func time(_ nanoseconds: UInt64) -> String {
        let microseconds = Double(nanoseconds) / 1000
        if microseconds < 1000 {
            return Quantity.fixed(microseconds, decimals: microseconds < 10 ? 1 : 0) + " µs"
        }
        return Quantity.duration(milliseconds: microseconds / 1000)
    }
}
