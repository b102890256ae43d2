// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A cluster or a point on a map, with the name under which it is known.
public struct Marker: Sendable, Equatable {
    /// Stays the same for as long as the marker shows the same.
    public let key: String
    public let feature: Feature

    package init?(_ value: JSONValue) {
        guard let object = value.asObject, let key = object["key"]?.asString else { return nil }
        let members = object.members.filter { $0.key != "key" }.map { ($0.key, $0.value) }
        guard let feature = Feature(.object(JSONObject(members))) else { return nil }
        self.key = key
        self.feature = feature
    }
}

/// What the server says is to be seen, and what the app has been told of it: the difference waits here.
///
/// Pure: changes go in, steps come out. What comes and goes before the app has been told of it is never told,
/// so however slow the app is, no more waits than is to be seen and has been told.
struct MarkerQueue {
    /// One thing for the app to do.
    enum Step: Equatable {
        case remove(String)
        case add(Marker)
        /// Another feature under a key that the app has.
        case replace(Marker)
    }

    /// What the server says is to be seen, by key.
    private(set) var wanted: [String: Marker] = [:]
    /// What the app has been told, by key.
    private(set) var told: [String: Marker] = [:]
    /// Keys of which something may have to be told, in the order in which it came; each stands here once.
    private var order: [String] = []
    private var place = 0
    private var waiting: Set<String> = []
    /// Of the newest change.
    private(set) var revision: Int64 = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Takes in an item of WatchClusters; throws where it does not fit what came before.
    mutating func apply(_ change: JSONValue) throws(RPCError) {
        guard let added = change["add"]?.asArray, let removed = change["remove"]?.asArray,
            let kept = change["keep"]?.asInteger,
            let revision = change["revision"]?.asNumber.flatMap({ Int64(exactly: $0) })
        else { throw RPCError(.internal, "the server's item is not a change of a viewport") }
        for key in removed {
            guard let key = key.asString, wanted.removeValue(forKey: key) != nil else {
                throw RPCError(.internal, "the server removes a marker that is not there")
            }
            wait(for: key)
        }
        for value in added {
            guard let marker = Marker(value) else {
                throw RPCError(.internal, "the server adds a marker that is not a feature with a key")
            }
            wanted[marker.key] = marker
            wait(for: marker.key)
        }
        guard wanted.count == kept + added.count else {
            throw RPCError(.internal, "the server's count of markers differs from the client's")
        }
        self.revision = revision
    }

    private mutating func wait(for key: String) {
        if waiting.insert(key).inserted { order.append(key) }
    }

    /// The next steps, the oldest first.
    ///
    /// - Parameter most: the most of them.
    mutating func take(_ most: Int) -> [Step] {
        var steps: [Step] = []
        while steps.count < most, place < order.count {
            let key = order[place]
            place += 1
            waiting.remove(key)
            if let step = step(for: key) { steps.append(step) }
        }
        if place == order.count {
            order.removeAll(keepingCapacity: true)
            place = 0
        } else if place > 1024, place > order.count / 2 {
            order.removeFirst(place)
            place = 0
        }
        return steps
    }

    private mutating func step(for key: String) -> Step? {
        let (old, new) = (told[key], wanted[key])
        told[key] = new
        switch (old, new) {
        case (nil, nil): return nil
        case (_?, nil): return .remove(key)
        case (nil, let new?): return .add(new)
        case (let old?, let new?): return old == new ? nil : .replace(new)
        }
    }
}
