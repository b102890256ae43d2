// SPDX-License-Identifier: MIT
import JSON

/// A client of WatchClusters that checks what it receives.
public struct MarkerReplay {
    /// What it has, by key, without the keys.
    public private(set) var markers: [String: JSONValue] = [:]

    public struct Failure: Error, CustomStringConvertible { public let description: String }

    public init() {}

    /// Applies a change: removals, then additions, of which some take the place of what is there.
    public mutating func apply(_ change: JSONValue) throws {
        for key in change["remove"]?.array ?? [] {
            guard case .string(let key) = key, markers.removeValue(forKey: key) != nil else {
                throw Failure(description: "removes what is not there: \(key.text)")
            }
        }
        var told: Set<String> = []
        for feature in change["add"]?.array ?? [] {
            guard case .object(let object) = feature, let key = feature["key"]?.string else {
                throw Failure(description: "adds without a key: \(feature.text)")
            }
            guard object.members.count(where: { $0.key == "key" }) == 1 else {
                throw Failure(description: "has two keys: \(feature.text)")
            }
            guard told.insert(key).inserted else { throw Failure(description: "\(key) was sent twice") }
            let plain = Self.plain(object)
            guard markers[key] != plain else {
                throw Failure(description: "\(key) was sent without a change")
            }
            markers[key] = plain
        }
        guard change["keep"] == .number(Double(markers.count - told.count)) else {
            throw Failure(description: "keeps \(change["keep"]?.text ?? "nothing"), not \(markers.count - told.count)")
        }
    }

    private static func plain(_ feature: JSONObject) -> JSONValue {
        .object(JSONObject(feature.members.filter { $0.key != "key" }.map { ($0.key, $0.value) }))
    }

    /// What it has, as texts in order.
    public var features: [String] { markers.values.map(\.text).sorted() }

    /// The same of an answer of GetClusters, whose features' own `key` members are hidden by the markers'.
    public static func features(of answer: JSONValue) -> [String] {
        (answer["features"]?.array ?? []).map { feature in
            if case .object(let object) = feature { plain(object).text } else { feature.text }
        }.sorted()
    }
}
