// SPDX-License-Identifier: MIT
import Responses
import ReplicationLog
import SourceEngine
import SystemSupport

/// One number that `GetStats` reports for each source.
struct SourceMetric: Sendable {
    /// Its member in the JSON; nil if the JSON has it in another member.
    let member: String?
    /// Its name for Prometheus.
    let name: String
    let help: String
    /// The value; nil for a source that has no such number.
    let value: @Sendable (SourceDescription) -> Double?

    /// - Parameter isOfWhole: whether only callers see it who see the whole source.
    init(
        _ member: String?, _ name: String, _ help: String, isOfWhole: Bool = false,
        value: @escaping @Sendable (SourceDescription) -> Double?
    ) {
        self.member = member
        self.name = name
        self.help = help
        self.value = { isOfWhole && $0.part != nil ? nil : value($0) }
    }

    /// All metrics of a source, each a gauge.
    static let all: [SourceMetric] =
        [
            SourceMetric("points", "clusterd_source_points", "Points, by source.") { Double($0.points) },
            SourceMetric("memoryBytes", "clusterd_source_memory_bytes", "Memory, by source.", isOfWhole: true) {
                Double($0.revision.memoryBytes)
            },
            SourceMetric(
                "fileBytes", "clusterd_source_file_bytes",
                "Features' text and index that stay in files and are read when they are needed, by source.",
                isOfWhole: true
            ) { Double($0.revision.fileBytes) },
            SourceMetric(
                "indexFileBytes", "clusterd_source_index_file_bytes",
                "The index's part of that: 0 while it is in memory, by source.", isOfWhole: true
            ) { Double($0.revision.indexFileBytes) },
            SourceMetric("revision", "clusterd_source_revision", "The number of the current data, by source.") {
                Double($0.revision.number)
            },
            SourceMetric(
                "buildMs", "clusterd_source_build_milliseconds", "How long the last clustering took, by source.",
                isOfWhole: true
            ) { $0.revision.buildMilliseconds },
            SourceMetric(
                "building", "clusterd_source_building", "Whether new data are being clustered, by source."
            ) { $0.state == .building ? 1 : 0 },
            SourceMetric(
                "loading", "clusterd_source_loading",
                "Whether a start is still reading the data, by source."
            ) { $0.state == .loading ? 1 : 0 },
            SourceMetric(
                "damaged", "clusterd_source_damaged", "Whether the data could not be read, by source."
            ) { $0.state == .damaged ? 1 : 0 },
            SourceMetric(
                "ageSeconds", "clusterd_source_age_seconds", "Seconds since the data last changed, by source."
            ) { max(0, Double(Timestamp.now.milliseconds - $0.updatedAt.milliseconds) / 1000) },
        ] + replication

    /// Metrics of sources that follow a table. In the JSON they are members of `replication`.
    private static let replication: [SourceMetric] = [
        SourceMetric(
            nil, "clusterd_source_replication_position",
            "The position in the server's log up to which a source has followed its table, in bytes.", isOfWhole: true
        ) { source in
            guard source.replication != nil, let position = source.revision.logs.table?.mark.position else {
                return nil
            }
            return LogPosition(position).map { Double($0.rawValue) }
        },
        SourceMetric(
            nil, "clusterd_source_replication_lag_bytes",
            "Bytes of the server's log that a source has not followed yet.", isOfWhole: true
        ) { $0.replication.map { Double($0.lagBytes) } },
        SourceMetric(
            nil, "clusterd_source_replication_lag_milliseconds",
            "How long ago the oldest transaction was committed that a source does not show yet.", isOfWhole: true
        ) { $0.replication.map(\.lagMilliseconds) },
        SourceMetric(
            nil, "clusterd_source_replication_following", "Whether the server sends a source's changes.",
            isOfWhole: true
        ) { $0.replication.map { $0.state == .following ? 1 : 0 } },
        SourceMetric(
            nil, "clusterd_source_replication_skipped_rows",
            "Rows that were left out since the daemon started because they are not features.", isOfWhole: true
        ) { $0.replication.map { Double($0.skippedReasons.values.reduce(0, +)) } },
    ]
}
