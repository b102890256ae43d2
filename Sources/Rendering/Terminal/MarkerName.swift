// SPDX-License-Identifier: MIT
import ClusterClient
import JSON

/// Describes markers in words.
enum MarkerName {
    private static let properties = ["name", "title", "label", "Name", "NAME", "ident"]

    /// `cluster of 1,723 points`, a point's name, or `point 17`.
    static func of(_ feature: Feature) -> String {
        if let cluster = feature.cluster { return "cluster of \(cluster.pointCount) points" }
        for property in properties {
            if let name = feature.properties[property]?.asString, !name.isEmpty { return name }
        }
        return feature.json["id"].map { "point \($0.asString ?? $0.text)" } ?? "point"
    }

    static func position(_ feature: Feature, _ projection: MapProjection) -> String {
        position(latitude: feature.latitude, longitude: feature.longitude, projection)
    }

    /// `52.52°N 13.41°E`, or `x 12.5  y 3` on a plane.
    static func position(latitude: Double, longitude: Double, _ projection: MapProjection) -> String {
        guard projection.wraps else {
            func text(_ value: Double) -> String { String(javaScript: (value * 100).rounded() / 100) }
            return "x \(text(longitude))  y \(text(latitude))"
        }
        func text(_ value: Double, _ positive: String, _ negative: String) -> String {
            String(javaScript: (abs(value) * 100).rounded() / 100) + "°" + (value < 0 ? negative : positive)
        }
        return text(latitude, "N", "S") + " " + text(longitude, "E", "W")
    }
}
