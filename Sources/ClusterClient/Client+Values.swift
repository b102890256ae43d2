// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Questions about indexed properties, and densities. Further params are passed in `extra`, as in other queries.
extension Client {
    /// The features in a box in order of an indexed property.
    ///
    /// - Parameter property: its name; after a minus the order ascends.
    public func top(
        of source: String, by property: String, in box: BoundingBox = .world, limit: Int = 20, extra: JSONObject = [:],
        options: CallOptions = .init()
    ) async throws -> FeatureCollection {
        let params: JSONObject = [
            "source": .string(source), "by": .string(property), "bbox": box.json, "limit": .number(Double(limit)),
        ]
        return try FeatureCollection(
            try await call("ClusterService/TopFeatures", CallParams(params.with(extra)), options: options))
    }

    /// How the values of an indexed property are distributed in a box, in bins of equal width.
    ///
    /// - Parameter bins: from 1 to 1000; nil if `extra` has `edges`.
    public func histogram(
        of source: String, property: String, in box: BoundingBox = .world, bins: Int?, extra: JSONObject = [:],
        options: CallOptions = .init()
    ) async throws -> Histogram {
        var params: JSONObject = ["source": .string(source), "property": .string(property), "bbox": box.json]
        params["bins"] = bins.map { .number(Double($0)) }
        return try Histogram(
            try await call("ClusterService/GetHistogram", CallParams(params.with(extra)), options: options))
    }

    /// The tiles of a zoom that touch a box and have points.
    ///
    /// - Parameter resolution: the zoom, from 0 to 26. More than 100,000 tiles fail with `RESOURCE_EXHAUSTED`.
    public func grid(
        of source: String, resolution: Int, in box: BoundingBox = .world, extra: JSONObject = [:],
        options: CallOptions = .init()
    ) async throws -> Grid {
        let params: JSONObject = [
            "source": .string(source), "resolution": .number(Double(resolution)), "bbox": box.json,
        ]
        return try Grid(try await call("ClusterService/GetGrid", CallParams(params.with(extra)), options: options))
    }
}

/// How values are distributed.
public struct Histogram: Sendable, Equatable {
    /// Ascending; one more than there are bins.
    public let edges: [Double]
    /// For each bin the number of values from its lower edge to below its upper edge; the last includes its upper edge.
    public let counts: [Int]
    public let below: Int
    public let above: Int
    /// The number of points without a value.
    public let missing: Int
    public let revision: Int64

    init(_ answer: Answer) throws {
        let value = try answer.value()
        guard let edges = value["edges"]?.asArray, let counts = value["counts"]?.asArray,
            let below = value["below"]?.asInteger, let above = value["above"]?.asInteger,
            let missing = value["missing"]?.asInteger, let revision = value["revision"]?.asInteger
        else { throw RPCError(.internal, "the server's answer is not a histogram") }
        self.edges = edges.compactMap(\.asNumber)
        self.counts = counts.compactMap(\.asInteger)
        (self.below, self.above, self.missing, self.revision) = (below, above, missing, Int64(revision))
    }
}

/// The tiles of a zoom that have points, by row and then by column.
public struct Grid: Sendable, Equatable {
    public struct Cell: Sendable, Equatable {
        public let x: Int
        public let y: Int
        public let pointCount: Int
    }

    public let resolution: Int
    public let cells: [Cell]
    public let revision: Int64

    init(_ answer: Answer) throws {
        let value = try answer.value()
        guard let resolution = value["resolution"]?.asInteger, let cells = value["cells"]?.asArray,
            let revision = value["revision"]?.asInteger
        else { throw RPCError(.internal, "the server's answer is not a grid") }
        self.resolution = resolution
        self.cells = cells.compactMap { cell in
            guard let x = cell["x"]?.asInteger, let y = cell["y"]?.asInteger, let count = cell["point_count"]?.asInteger
            else { return nil }
            return Cell(x: x, y: y, pointCount: count)
        }
        self.revision = Int64(revision)
    }
}
