// SPDX-License-Identifier: MIT
import JSON

/// A batch of the changes in a viewport.
public struct ViewportUpdate: Sendable, Equatable {
    /// Keys of markers to remove.
    public var removed: [String] = []
    /// With transitions, for the key of a removed marker: the key of the marker that has absorbed it, if the
    /// viewport has that marker.
    public var absorbers: [String: String] = [:]
    /// New markers.
    public var added: [Marker] = []
    /// Markers that replace the ones that the app has under the same keys.
    public var replaced: [Marker] = []
    /// Whether the app now has everything that the viewport shows.
    public var isComplete = false
    /// The number of the newest revision that the server has sent.
    public var revision: Int64 = 0

    /// The number of markers in the update.
    public var count: Int { removed.count + added.count + replaced.count }
}

/// A cluster or a point on a map, with the key that identifies it.
public struct Marker: Sendable, Equatable {
    /// Stays the same as long as the marker shows the same points; with transitions, as long as it grows from
    /// the same feature.
    public let key: String
    /// With transitions, for a new marker: the key of the marker from which its points come, if the app has
    /// that marker.
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
