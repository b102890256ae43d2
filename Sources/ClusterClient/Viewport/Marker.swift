// SPDX-License-Identifier: MIT
import JSON

/// A cluster or a point on a map, with the key that identifies it.
public struct Marker: Sendable, Equatable {
    /// Stays the same as long as the marker shows the same points; with transitions, as long as it grows from the
    /// same feature.
    public let key: String
    /// With transitions, for a new marker: the key of the marker from which its points come, if the app has that
    /// marker.
    public let from: String?
    public let feature: Feature

    package init?(_ value: JSONValue) {
        guard let object = value.asObject, let key = object["key"]?.asString else { return nil }
        let members = object.members.filter { $0.key != "key" && $0.key != "from" }.map { ($0.key, $0.value) }
        guard let feature = Feature(.object(JSONObject(members))) else { return nil }
        self.init(key: key, from: object["from"]?.asString, feature: feature)
    }

    init(key: String, from: String?, feature: Feature) {
        self.key = key
        self.from = from
        self.feature = feature
    }

    /// Whether two markers have the same key and show the same feature.
    func showsSame(as other: Marker) -> Bool { key == other.key && feature == other.feature }
}
