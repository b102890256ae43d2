// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

/// The bins of a histogram.
public enum HistogramBins: Sendable {
    /// Of equal width, from the least to the greatest value.
    case count(Int)
    /// Strictly ascending, at least two.
    case edges([Double])
}

extension Revision {
    /// Writes the features in a box in order of an indexed property, as a FeatureCollection with `revision`.
    ///
    /// - Complexity: see `IndexedPoints.top`.
    public func writeTop(
        _ ranking: ViewRestriction.Ranking, in box: Box, of view: View, limit: Int, output: FeatureOutput,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let found = try topPoints(ranking, in: box, of: view, limit: limit, output, cancellation)
        let writer = FeatureWriter(revision: self, view: view, output: output, cancellation: cancellation)
        var collection = CollectionWriter(into: &bytes, form: output.form)
        try writer.write(found, to: &collection, into: &bytes)
        collection.endFeatures(&bytes)
        endAnswer(&bytes, form: output.form)
    }

    /// The points in a box in order of an indexed property.
    func topPoints(
        _ ranking: ViewRestriction.Ranking, in box: Box, of view: View, limit: Int, _ output: FeatureOutput,
        _ cancellation: Cancellation
    ) throws(SourceError) -> [Node] {
        let points = try points(by: ranking.property, in: view, path: "by", cancellation)
        let window = try output.restriction?.window.map { (window) throws(SourceError) in
            try self.window(window, in: view, cancellation)
        }
        let found = points.top(in: try view.checked(box), ranking.order, limit: limit, in: window) {
            cancellation.isCancelled
        }
        try cancellation.stopIfCancelled()
        return found.map(Node.point)
    }

    /// Writes how the values of an indexed property are distributed in a box:
    /// `{"edges":[…],"counts":[…],"below":n,"above":n,"missing":n,"revision":n}`.
    ///
    /// Counts that are too small to be shown are 0.
    ///
    /// - Complexity: see `IndexedPoints.histogram`.
    public func writeHistogram(
        of property: String, in box: Box, of view: View, _ bins: HistogramBins, window: ViewRestriction.Window?,
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let points = try points(by: property, in: view, path: "property", cancellation)
        let window = try window.map { (window) throws(SourceError) in
            try self.window(window, in: view, cancellation)
        }
        let box = try view.checked(box)
        let isCancelled = { cancellation.isCancelled }
        let histogram =
            switch bins {
            case .count(let count): points.histogram(in: box, bins: count, window: window, isCancelled: isCancelled)
            case .edges(let edges): points.histogram(in: box, edges: edges, window: window, isCancelled: isCancelled)
            }
        try cancellation.stopIfCancelled()
        func shown(_ count: Int) -> Int64 { count >= view.leastCount ? Int64(count) : 0 }
        bytes.append("{\"edges\":")
        bytes.append(.array(histogram.edges.map(JSONValue.number)))
        bytes.append(",\"counts\":[")
        for (index, count) in histogram.counts.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append(integer: shown(count))
        }
        bytes.append("],\"below\":")
        bytes.append(integer: shown(histogram.below))
        bytes.append(",\"above\":")
        bytes.append(integer: shown(histogram.above))
        bytes.append(",\"missing\":")
        bytes.append(integer: shown(histogram.missing))
        endAnswer(&bytes)
    }
}

extension View {
    /// A query's box for the index. Throws for one of a plane whose west is greater than its east.
    func checked(_ box: Box) throws(SourceError) -> CoordinateBox {
        guard index.projection.isRound || box.west <= box.east else {
            throw .invalidParameter(
                path: "bbox[2]", message: "must not be less than bbox[0]: a planar projection has no antimeridian")
        }
        return CoordinateBox(west: box.west, south: box.south, east: box.east, north: box.north)
    }
}
