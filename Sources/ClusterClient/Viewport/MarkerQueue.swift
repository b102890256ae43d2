// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Holds the markers of the server's newest state and those delivered to the app; their difference is still
/// to be delivered.
///
/// Pure: changes go in, steps come out. A marker that appears and disappears before its delivery is never
/// delivered, so however slow the app is, at most the markers of both states wait.
struct MarkerQueue {
    /// One thing for the app to do.
    enum Step: Equatable {
        /// `into` is the key of the marker that has absorbed it, if the server reported it.
        case remove(String, into: String?)
        case add(Marker)
        /// Replaces the feature under a key that the app has.
        case replace(Marker)
    }

    /// The markers of the server's newest state, by key.
    private(set) var target: [String: Marker] = [:]
    /// The markers that have been delivered to the app, by key.
    private(set) var delivered: [String: Marker] = [:]
    /// For removed markers that the app still has: the key of the marker that absorbed each.
    private var absorbers: [String: String] = [:]
    /// Keys whose changes may be due, each once; those from index `next` on are still to be delivered, in this order.
    private var order: [String] = []
    private var next = 0
    private var waiting: Set<String> = []
    private var isSorted = true
    /// The centre of the app's viewport, from which markers are delivered outwards.
    private var center: (longitude: Double, latitude: Double)?
    /// The revision of the newest change.
    private(set) var revision: Int64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// The app's viewport has moved.
    mutating func move(to box: BoundingBox) {
        let width = box.west <= box.east ? box.east - box.west : box.east + 360 - box.west
        center = (box.west + width / 2, (box.south + box.north) / 2)
        isSorted = false
    }

    /// Applies an item of WatchClusters; throws if it does not fit the earlier ones.
    mutating func apply(_ change: JSONValue) throws(RPCError) {
        guard let added = change["add"]?.asArray, let removed = change["remove"]?.asArray,
            let kept = change["keep"]?.asInteger,
            let revision = change["revision"]?.asNumber.flatMap({ Int64(exactly: $0) })
        else { throw RPCError(.internal, "the server's item is not a change of a viewport") }
        let updated = change["update"]?.asArray ?? []
        for value in removed {
            guard let key = value.asString ?? value["key"]?.asString, target.removeValue(forKey: key) != nil
            else { throw RPCError(.internal, "the server removes a marker that is not there") }
            absorbers[key] = value["into"]?.asString
            wait(for: key)
        }
        for value in added + updated {
            guard let marker = Marker(value) else {
                throw RPCError(.internal, "the server adds a marker that is not a feature with a key")
            }
            // A marker that has not been delivered yet keeps its origin.
            let from = marker.from ?? target[marker.key]?.from
            target[marker.key] = Marker(key: marker.key, from: from, feature: marker.feature)
            absorbers[marker.key] = nil
            wait(for: marker.key)
        }
        guard target.count == kept + added.count + updated.count else {
            throw RPCError(.internal, "the server's count of markers differs from the client's")
        }
        self.revision = revision
    }

    private mutating func wait(for key: String) {
        guard waiting.insert(key).inserted else { return }
        order.append(key)
        isSorted = false
    }

    /// Returns the next steps: those nearest to the viewport's centre first, equally near ones from oldest to newest.
    ///
    /// - Parameter most: the maximum number of steps.
    mutating func take(_ most: Int) -> [Step] {
        sort()
        var steps: [Step] = []
        while steps.count < most, next < order.count {
            let key = order[next]
            next += 1
            waiting.remove(key)
            if let step = step(for: key) { steps.append(step) }
        }
        if next == order.count {
            order.removeAll(keepingCapacity: true)
            next = 0
        } else if next > 1024, next > order.count / 2 {
            order.removeFirst(next)
            next = 0
        }
        return steps
    }

    private mutating func sort() {
        guard !isSorted, center != nil else { return }
        isSorted = true
        let ranked = order[next...].enumerated().map {
            (distance: distance(of: $0.element), age: $0.offset, key: $0.element)
        }.sorted { ($0.distance, $0.age) < ($1.distance, $1.age) }
        order.replaceSubrange(next..., with: ranked.map(\.key))
    }

    /// The square of a marker's distance from the centre, in square degrees, the shorter way around the world.
    private func distance(of key: String) -> Double {
        guard let center, let feature = (target[key] ?? delivered[key])?.feature else { return 0 }
        let east = (feature.longitude - center.longitude).truncatingRemainder(dividingBy: 360)
        let x = min(abs(east), 360 - abs(east))
        let y = feature.latitude - center.latitude
        return x * x + y * y
    }

    private mutating func step(for key: String) -> Step? {
        let (old, new) = (delivered[key], target[key])
        delivered[key] = new
        switch (old, new) {
        case (nil, nil):
            absorbers[key] = nil
            return nil
        case (_?, nil): return .remove(key, into: absorbers.removeValue(forKey: key))
        case (nil, let new?): return .add(new)
        case (let old?, let new?): return old.showsSame(as: new) ? nil : .replace(new)
        }
    }
}

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
