// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// A cluster or a point in an answer.
public struct Feature: Sendable, Equatable {
    /// The members that only clusters have.
    public struct Cluster: Sendable, Equatable {
        /// The id that `children`, `leaves`, `expansionZoom` and `hull` take.
        public let id: Int64
        /// The number of its points that the query shows: those in the window, without pinned ones.
        public let pointCount: Int
        /// The number of all its points, if the query has a window; else nil.
        public let totalCount: Int?
        /// The count as a label: "1.2k".
        public let abbreviatedCount: String
    }

    /// A number or a string; nil if the feature has no id. Integers beyond 2^53 lose digits here; the
    /// answer's text has all.
    public let id: JSONValue?
    public let longitude: Double
    public let latitude: Double
    public let properties: JSONObject
    /// Nil for a point, even one whose own properties say `cluster: true`.
    public let cluster: Cluster?
    /// The whole feature.
    public let json: JSONObject

    package init?(_ value: JSONValue) {
        guard let json = value.asObject, let position = json["geometry"]?["coordinates"]?.asPosition
        else { return nil }
        self.json = json
        (longitude, latitude) = position
        id = json["id"]
        properties = json["properties"]?.asObject ?? [:]
        cluster = Feature.cluster(properties, id: json["id"])
    }

    /// A cluster has its id both in the feature and in its properties, beside a count.
    private static func cluster(_ properties: JSONObject, id: JSONValue?) -> Cluster? {
        guard properties["cluster"] == .bool(true), let own = properties["cluster_id"], own == id,
            let number = own.asNumber.flatMap({ Int64(exactly: $0) }), let count = properties["point_count"]?.asInteger
        else { return nil }
        let abbreviated = properties["point_count_abbreviated"]
        return Cluster(
            id: number, pointCount: count, totalCount: properties["total_count"]?.asInteger,
            abbreviatedCount: abbreviated?.asString ?? abbreviated?.asNumber.map { String(javaScript: $0) } ?? "")
    }
}

/// Features, and the revision of the source's data from which they come.
public struct FeatureCollection: Sendable, Equatable {
    public let features: [Feature]
    public let revision: Int64
    /// The data's position in the log of the table that the source follows; nil if it follows none.
    public let position: String?
    /// Whether more features exist than the limit allowed; nil if no limit was given.
    public let isTruncated: Bool?
    /// The total number of leaves; nil except for `leaves`.
    public let total: Int?

    package init(_ answer: Answer) throws {
        let value = try answer.value()
        guard let features = value["features"]?.asArray,
            let revision = value["revision"]?.asNumber.flatMap({ Int64(exactly: $0) })
        else { throw RPCError(.internal, "the server's answer is not a FeatureCollection with a revision") }
        self.features = features.compactMap(Feature.init)
        self.revision = revision
        position = value["position"]?.asString
        isTruncated = value["truncated"]?.asBool
        total = value["total"]?.asInteger
    }
}

/// A box in degrees. If `west` is greater than `east`, the box crosses the antimeridian.
public struct BoundingBox: Sendable, Equatable {
    public var west, south, east, north: Double

    public init(west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// Four numbers, as the daemon writes boxes; nil for anything else.
    package init?(_ json: JSONValue?) {
        let edges = (json?.asArray ?? []).compactMap(\.asNumber)
        guard edges.count == 4 else { return nil }
        self.init(west: edges[0], south: edges[1], east: edges[2], north: edges[3])
    }

    public static let world = BoundingBox(west: -180, south: -90, east: 180, north: 90)

    package var json: JSONValue { .array([west, south, east, north].map(JSONValue.number)) }
}

extension JSONValue {
    package var asObject: JSONObject? { if case .object(let object) = self { object } else { nil } }
    package var asArray: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    package var asString: String? { if case .string(let text) = self { text } else { nil } }
    package var asNumber: Double? { if case .number(let number) = self { number } else { nil } }
    package var asInteger: Int? { asNumber.flatMap { Int(exactly: $0) } }
    package var asBool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

    /// A position of GeoJSON; nil for anything else.
    package var asPosition: (longitude: Double, latitude: Double)? {
        guard let numbers = asArray, numbers.count >= 2, let longitude = numbers[0].asNumber,
            let latitude = numbers[1].asNumber
        else { return nil }
        return (longitude, latitude)
    }

    /// The positions of an array; elements that are none are left out.
    package var asPositions: [(longitude: Double, latitude: Double)] {
        (asArray ?? []).compactMap(\.asPosition)
    }

    /// The member of an object; nil for anything else.
    package subscript(key: String) -> JSONValue? { asObject?[key] }
}
