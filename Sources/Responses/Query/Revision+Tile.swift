// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import JSON
import SourceEngine
import SystemSupport

extension Revision {
    /// The features of a tile and its margin, at the positions of supercluster's `getTile`.
    public func tileFeatures(_ tile: TileAddress, of view: View) -> [TileFeature] {
        tileFeatures(tile, of: view, shown: nil)
    }

    /// - Parameter shown: what is shown of them: nodes of which nothing is left are left out, and pinned points come first.
    func tileFeatures(_ tile: TileAddress, of view: View, shown: ShownPoints?) -> [TileFeature] {
        var nodes: [ClusterIndex.TileNode] = []
        let (x, y) = (Double(tile.x), Double(tile.y))
        view.index.tileNodes(z: tile.z, x: x, y: y, into: &nodes)
        if view.leastCount > 1 { nodes.removeAll { !view.shows($0.node) } }
        if let shown {
            nodes.removeAll { !shown.shows($0.node) }
            let pinned = shown.pinned.flatMap { point in
                let (longitude, latitude) = store.coordinates(view.feature(of: point))
                return view.index.columns(showing: longitude, latitude, inTile: tile.z, x: x, y: y).map {
                    ClusterIndex.TileNode(node: .point(point), column: $0)
                }
            }
            nodes = pinned + nodes
        }
        let scale = Double(1 << tile.z)
        let (extent, projection) = (view.index.options.extent, view.index.projection)
        return nodes.map { node in
            let position = unitPosition(of: node.node, in: view, projection)
            return TileFeature(
                node: node.node, x: Self.tileCoordinate(extent * (position.x * scale - node.column)),
                y: Self.tileCoordinate(extent * (position.y * scale - Double(tile.y))))
        }
    }

    /// Writes a tile as JSON.
    public func writeTile(
        _ tile: TileAddress, of view: View, output: FeatureOutput = FeatureOutput(),
        into bytes: inout ByteWriter, _ cancellation: Cancellation
    ) throws(SourceError) {
        let shown = try shown(
            output.restriction, in: view, at: view.index.level(for: Double(tile.z)), cancellation)
        let writer = FeatureWriter(
            revision: self, view: view, output: output, shown: shown, cancellation: cancellation)
        let keys = output.include.contains(.key) ? try FeatureKeys(self, view, cancellation) : nil
        let interval = output.checkInterval
        let structProperties = output.form.structProperties
        if structProperties == nil { bytes.append("{\"features\":[") }
        for (index, feature) in tileFeatures(tile, of: view, shown: shown).enumerated() {
            if index % interval == interval - 1, bytes.hasOverflowed || cancellation.isCancelled {
                throw .cancelled
            }
            let key = keys?.key(of: feature.node)
            if let structProperties {
                try writer.writeMessage(feature, key: key, structProperties, into: &bytes)
                continue
            }
            if index > 0 { bytes.append(",") }
            try write(feature, key: key, with: writer, into: &bytes)
        }
        if structProperties == nil { bytes.append("]") }
        endAnswer(&bytes, form: output.form)
    }

    private func write(
        _ feature: TileFeature, key: MarkerKey?, with writer: FeatureWriter, into bytes: inout ByteWriter
    ) throws(SourceError) {
        bytes.append("{\"type\":1,\"geometry\":[[")
        bytes.append(integer: feature.x)
        bytes.append(",")
        bytes.append(integer: feature.y)
        bytes.append("]],\"tags\":")
        switch feature.node {
        case .cluster(let cluster):
            bytes.append("{")
            try writer.writeProperties(of: cluster, into: &bytes)
            bytes.append("},\"id\":")
            bytes.append(integer: writer.id(of: cluster))
        case .point(let point):
            store.writeProperties(
                writer.view.feature(of: point), into: &bytes, selection: writer.output.properties,
                mark: writer.mark(of: point))
            if hasTileIdentifier(point, in: writer.view) {
                bytes.append(",\"id\":")
                writeIdentifier(of: point, in: writer.view, into: &bytes)
            }
        }
        if let key {
            bytes.append(",\"key\":")
            MarkerWriter.write(key: key, into: &bytes)
        }
        bytes.append("}")
    }

    func hasTileIdentifier(_ point: PointIndex, in view: View) -> Bool {
        options.generateId || store.hasIdentifier(view.feature(of: point))
    }

    /// Writes the point's index in the input if the options ask for that, else its own id if it has one.
    func writeIdentifier(of point: PointIndex, in view: View, into bytes: inout ByteWriter) {
        if options.generateId {
            bytes.append(integer: Int64(view.inputIndex(of: point)))
        } else {
            store.writeIdentifier(view.feature(of: point), into: &bytes)
        }
    }

    private func unitPosition(of node: Node, in view: View, _ projection: Projection) -> (x: Double, y: Double) {
        switch node {
        case .cluster(let cluster): return view.index.unitPosition(of: cluster)
        case .point(let point):
            let (longitude, latitude) = store.coordinates(view.feature(of: point))
            return (projection.x(longitude: longitude), projection.y(latitude: latitude))
        }
    }

    /// Rounds like JavaScript's `Math.round`: halves round up.
    static func tileCoordinate(_ number: Double) -> Int64 {
        let floor = number.rounded(.down)
        return Int64(exactly: number - floor >= 0.5 ? floor + 1 : floor) ?? 0
    }
}

/// One feature of a tile, in the tile's own coordinates.
public struct TileFeature: Sendable {
    public let node: Node
    public let x: Int64
    public let y: Int64
}

/// A tile's address: zoom, column and row.
public struct TileAddress: Sendable, Equatable {
    public let z: Int
    public let x: Int
    public let y: Int

    /// The deepest zoom of a tile. Columns and rows are still exact in 64-bit floats.
    public static let deepest = 30

    /// Nil if there is no such tile.
    public init?(z: Int, x: Int, y: Int) {
        guard (0...Self.deepest).contains(z) else { return nil }
        let side = 1 << z
        guard (0..<side).contains(x), (0..<side).contains(y) else { return nil }
        self.z = z
        self.x = x
        self.y = y
    }
}
