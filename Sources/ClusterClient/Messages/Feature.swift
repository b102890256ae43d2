// SPDX-License-Identifier: MIT
import JSON

/// A cluster or a point in an answer.
public struct Feature: Sendable, Equatable {
    /// The members that only clusters have.
    public struct Cluster: Sendable, Equatable {
        /// The id that `children`, `leaves`, `expansionZoom` and `hull` take.
        public let id: Int64
        public let pointCount: Int
        /// The count as a label: "1.2k".
        public let abbreviatedCount: String
    }

    /// A number or a string; nil if the feature has no id. Integers beyond 2^53 lose digits here; the answer's text has all.
    public let id: JSONValue?
    public let longitude: Double
    public let latitude: Double
    public let properties: JSONObject
    /// Nil for a point, even one whose own properties say `cluster: true`.
    public let cluster: Cluster?
    /// The whole feature.
    public let json: JSONObject

    package init?(_ value: JSONValue) {
        guard let json = value.asObject, let place = json["geometry"]?["coordinates"]?.asArray,
            place.count >= 2, let longitude = place[0].asNumber, let latitude = place[1].asNumber
        else { return nil }
        self.json = json
        self.longitude = longitude
        self.latitude = latitude
        id = json["id"]
        properties = json["properties"]?.asObject ?? [:]
        cluster = Feature.cluster(properties, id: json["id"])
    }

    /// A cluster has its id both in the feature and in its properties, beside a count.
    private static func cluster(_ properties: JSONObject, id: JSONValue?) -> Cluster? {
        guard properties["cluster"] == .bool(true), let own = properties["cluster_id"], own == id,
            let number = own.asNumber.flatMap({ Int64(exactly: $0) }),
            let count = properties["point_count"]?.asInteger
        else { return nil }
        let abbreviated = properties["point_count_abbreviated"]
        return Cluster(
            id: number, pointCount: count,
            abbreviatedCount: abbreviated?.asString ?? abbreviated?.asNumber.map { String(javaScript: $0) }
                ?? "")
    }
}
