// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON
import Rendering

/// Clusters and points as a table: the largest clusters first, then points in the answer's order.
enum FeatureTable {
    static func table(_ features: [Feature]) -> Table {
        var table = Table([
            .text("ID"), .number("POINTS"), .number("LONGITUDE"), .number("LATITUDE"), .flexible("PROPERTIES"),
        ])
        let clusters = features.filter { $0.cluster != nil }
            .sorted { ($0.cluster?.pointCount ?? 0) > ($1.cluster?.pointCount ?? 0) }
        for feature in clusters + features.filter({ $0.cluster == nil }) { table.add(row(feature)) }
        return table
    }

    private static func row(_ feature: Feature) -> [String] {
        let index = [feature.longitude, feature.latitude].map { Quantity.fixed($0, decimals: 4) }
        if let cluster = feature.cluster {
            let own = ["cluster", "cluster_id", "point_count", "point_count_abbreviated"]
            let more = feature.properties.members.filter { !own.contains($0.key) }
            return [String(cluster.id), Quantity.grouped(cluster.pointCount)] + index + [properties(more)]
        }
        let id = feature.id.map { $0.asString ?? $0.text } ?? ""
        return [id, "·"] + index + [properties(feature.properties.members)]
    }

    /// `name=Tokyo population=37274000`.
    static func properties(_ members: [(key: String, value: JSONValue)]) -> String {
        members.map { "\($0.key)=\(text($0.value))" }.joined(separator: " ")
    }

    /// Means and other quotients have six digits; JSON and CSV have all.
    private static func text(_ value: JSONValue) -> String {
        guard let number = value.asNumber, number != number.rounded(), number.magnitude < 1e15 else {
            return value.asString ?? value.text
        }
        let digits = max(0, 6 - Int(log10(max(number.magnitude, 1e-300)).rounded(.down)) - 1)
        let scale = pow(10, Double(min(digits, 300)))
        let rounded = (number * scale).rounded() / scale
        return rounded.isFinite ? JSONValue.number(rounded).text : value.text
    }
}
