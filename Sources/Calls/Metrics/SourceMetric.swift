// SPDX-License-Identifier: MIT
import Answers
import Sources
import SystemSupport

/// One number that `GetStats` reports of each source.
struct SourceMetric: Sendable {
    /// Its member in the JSON.
    let member: String
    /// Its name for Prometheus.
    let name: String
    let help: String
    let value: @Sendable (SourceDescription) -> Double

    init(
        _ member: String, _ name: String, _ help: String,
        value: @escaping @Sendable (SourceDescription) -> Double
    ) {
        self.member = member
        self.name = name
        self.help = help
        self.value = value
    }

    /// All of them, each a gauge.
    static let all: [SourceMetric] = [
        SourceMetric("points", "clusterd_source_points", "Points, by source.") {
            Double($0.revision.pointCount)
        },
        SourceMetric("memoryBytes", "clusterd_source_memory_bytes", "Memory, by source.") {
            Double($0.revision.memoryBytes)
        },
        SourceMetric("revision", "clusterd_source_revision", "The number of the current data, by source.") {
            Double($0.revision.number)
        },
        SourceMetric(
            "buildMs", "clusterd_source_build_milliseconds", "How long the last clustering took, by source."
        ) { $0.revision.buildMilliseconds },
        SourceMetric(
            "building", "clusterd_source_building", "Whether new data are being clustered, by source."
        ) { $0.state == .building ? 1 : 0 },
        SourceMetric(
            "damaged", "clusterd_source_damaged", "Whether the data could not be read, by source."
        ) { $0.state == .damaged ? 1 : 0 },
        SourceMetric(
            "ageSeconds", "clusterd_source_age_seconds", "Seconds since the data last changed, by source."
        ) { max(0, Double(Timestamp.now.milliseconds - $0.updatedAt.milliseconds) / 1000) },
    ]
}
