// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc
import JSON

/// Requests for a load: a share of each kind, about nodes that the source contains.
public struct RequestMix {
    /// The kinds of requests.
    enum Kind: String, CaseIterable { case clusters, tile, children, leaves, zoom, hull }

    /// How the box of a viewport is chosen.
    public struct Viewport {
        public var zooms: ClosedRange<Int>
        /// The most features in an answer.
        public var limit: Int
        /// A phone's or a small window's size.
        var pixels = (width: 1024.0, height: 768.0)

        public init(limit: Int, zooms: ClosedRange<Int>) {
            self.limit = limit
            self.zooms = zooms
        }
    }

    /// The share of each kind.
    let weights: [(kind: Kind, weight: Int)]

    /// `clusters=8,tile=1,hull=1`; nil if the text is anything else.
    public init?(text: String) {
        var weights: [(kind: Kind, weight: Int)] = []
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard let kind = sides.first.flatMap({ Kind(rawValue: String($0)) }) else { return nil }
            guard let weight = sides.count > 1 ? Int(sides[1]) : 1, weight > 0, weight <= 1000 else {
                return nil
            }
            weights.append((kind, weight))
        }
        guard !weights.isEmpty else { return nil }
        self.weights = weights
    }

    /// Requests without their ids, in a random order that is always the same.
    ///
    /// - Parameter count: the approximate number of different requests.
    public func requests(for source: String, viewport: Viewport, count: Int, _ client: Client) async throws -> [[UInt8]]
    {
        var random = SplitMix(seed: 1)
        let shown = try await Self.features(source, viewport, client)
        guard !shown.isEmpty else { throw BenchError(message: "\(source) has no points to ask for") }
        let clusters = shown.compactMap(\.cluster)
        let total = weights.reduce(0) { $0 + $1.weight }
        var requests: [[UInt8]] = []
        for (kind, weight) in weights {
            for _ in 0..<max(1, count * weight / total) {
                let feature = shown[random.integer(below: shown.count)]
                var params: JSONObject = ["source": .string(source)]
                switch kind {
                case .clusters:
                    Self.addBox(feature, viewport, &params, &random)
                case .tile:
                    Self.addTile(feature, viewport, &params, &random)
                case .children, .leaves, .zoom, .hull:
                    guard !clusters.isEmpty else {
                        throw BenchError(message: "\(source) has no clusters to ask for")
                    }
                    params["clusterId"] = .number(Double(clusters[random.integer(below: clusters.count)].id))
                }
                requests.append(Self.envelope(kind, params))
            }
        }
        requests.shuffle(using: &random)
        return requests
    }

    /// The params of watched viewports, and locations of the source's features.
    public static func viewports(of source: String, _ viewport: Viewport, count: Int, _ client: Client)
        async throws
        -> (params: [JSONObject], positions: [(longitude: Double, latitude: Double)])
    {
        var random = SplitMix(seed: 1)
        let shown = try await features(source, viewport, client)
        guard !shown.isEmpty else { throw BenchError(message: "\(source) has no points to watch") }
        let params = (0..<count).map { _ in
            var params: JSONObject = ["source": .string(source)]
            addBox(shown[random.integer(below: shown.count)], viewport, &params, &random)
            return params
        }
        return (params, shown.map { ($0.longitude, $0.latitude) })
    }

    private static func envelope(_ kind: Kind, _ params: JSONObject) -> [UInt8] {
        let method =
            switch kind {
            case .clusters: "GetClusters"
            case .tile: "GetTile"
            case .children: "GetChildren"
            case .leaves: "GetLeaves"
            case .zoom: "GetClusterExpansionZoom"
            case .hull: "GetConvexHull"
            }
        let text = ",\"method\":\"clusterd.v1.ClusterService/\(method)\",\"params\":\(JSONValue.object(params).text)}"
        return Array(text.utf8)
    }

    /// What the source shows of the world at the lowest of the zooms and four zooms above it.
    private static func features(_ source: String, _ viewport: Viewport, _ client: Client) async throws -> [Feature] {
        let lowest = viewport.zooms.lowerBound
        var features: [Feature] = []
        for zoom in [lowest, min(viewport.zooms.upperBound, lowest + 4)] {
            features += try await client.clusters(of: source, in: .world, zoom: Double(zoom), limit: 2000).features
        }
        return features
    }

    private static func addBox(
        _ feature: Feature, _ viewport: Viewport, _ params: inout JSONObject, _ random: inout SplitMix
    ) {
        let zoom = viewport.zooms.lowerBound + random.integer(below: viewport.zooms.count)
        let degreesPerPixel = 360 / (512 * Double(1 << zoom))
        let (width, height) = (viewport.pixels.width * degreesPerPixel, viewport.pixels.height * degreesPerPixel)
        let west = max(-180, feature.longitude - width * random.unit())
        let south = max(-85, feature.latitude - height * random.unit())
        let box = BoundingBox(west: west, south: south, east: min(180, west + width), north: min(85, south + height))
        params["bbox"] = .array([box.west, box.south, box.east, box.north].map(JSONValue.number))
        params["zoom"] = .number(Double(zoom))
        params["limit"] = .number(Double(viewport.limit))
    }

    private static func addTile(
        _ feature: Feature, _ viewport: Viewport, _ params: inout JSONObject, _ random: inout SplitMix
    ) {
        let zoom = viewport.zooms.lowerBound + random.integer(below: viewport.zooms.count)
        let tile = TileAddress(longitude: feature.longitude, latitude: feature.latitude, zoom: zoom)
        params["z"] = .number(Double(zoom))
        params["x"] = .number(Double(tile.x))
        params["y"] = .number(Double(tile.y))
    }
}

/// The tile of Web Mercator that a position lies in.
struct TileAddress: Equatable {
    let x, y: Int

    init(longitude: Double, latitude: Double, zoom: Int) {
        let tiles = Double(1 << min(max(zoom, 0), 30))
        let sine = sin(max(-85.0511, min(85.0511, latitude)) * .pi / 180)
        let across = (longitude + 180) / 360
        let down = 0.5 - 0.25 * log((1 + sine) / (1 - sine)) / .pi
        x = Int(exactly: (min(max(across * tiles, 0), tiles - 1)).rounded(.down)) ?? 0
        y = Int(exactly: (min(max(down * tiles, 0), tiles - 1)).rounded(.down)) ?? 0
    }
}
