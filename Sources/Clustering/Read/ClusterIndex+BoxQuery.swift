// SPDX-License-Identifier: MIT

extension ClusterIndex {
    /// Finds the nodes that a map shows in a box at a zoom.
    ///
    /// The box may be wider than the world, wrap around it, or cross the antimeridian (west greater than east):
    /// longitudes are handled as supercluster does, latitudes are clamped to ±90. Nodes are in the order of a
    /// Z-order curve over the world; for a box across the antimeridian the eastern part comes first. The order is
    /// the same for the same data on every build.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of nodes.
    ///   - found: emptied first; reusing it avoids an allocation.
    /// - Returns: whether there are more than `limit`.
    /// - Complexity: O(points / 4096 + points near the box / 64 + answers).
    public func nodes(
        west: Double, south: Double, east: Double, north: Double, at zoom: Zoom, limit: Int = .max,
        into found: inout [Node]
    ) -> Bool {
        found.removeAll(keepingCapacity: true)
        guard pointCount > 0 else { return false }
        let (box, western) = unitBoxes(west: west, south: south, east: east, north: north)
        if collect(box, zoom, limit, &found) { return true }
        return western.map { collect($0, zoom, limit, &found) } ?? false
    }

    /// Whether `nodes` finds a point at a position in a box.
    public func isInside(
        _ longitude: Double, _ latitude: Double, west: Double, south: Double, east: Double, north: Double
    ) -> Bool {
        let (first, western) = unitBoxes(west: west, south: south, east: east, north: north)
        let (x, y) = comparedPosition(longitude, latitude)
        return first.contains(x, y) || western?.contains(x, y) == true
    }

    /// A position as a build compares it.
    private func comparedPosition(_ longitude: Double, _ latitude: Double) -> (x: Double, y: Double) {
        let (x, y) = options.unitPosition(longitude, latitude)
        return (options.rounded(x), options.rounded(y))
    }

    /// A box in the unit square, in two parts if it crosses the antimeridian: the eastern one, then the western one.
    @inline(__always) func unitBoxes(
        west: Double, south: Double, east: Double, north: Double
    ) -> (UnitBox, western: UnitBox?) {
        guard options.projection.isRound else { return (planarBox(west, south, east, north), nil) }
        let bottom = Mercator.y(latitude: max(-90, min(90, south)))
        let top = Mercator.y(latitude: max(-90, min(90, north)))
        var left = Self.wrapped(west)
        var right = east == 180 ? 180 : Self.wrapped(east)
        var western: UnitBox?
        if east - west >= 360 {
            (left, right) = (-180, 180)
        } else if left > right {
            western = UnitBox(
                minimumX: 0, minimumY: top, maximumX: Mercator.x(longitude: right), maximumY: bottom)
            right = 180
        }
        let box = UnitBox(
            minimumX: Mercator.x(longitude: left), minimumY: top, maximumX: Mercator.x(longitude: right),
            maximumY: bottom)
        return (box, western)
    }

    /// A box of a plane, which has no antimeridian: a box whose west is greater than its east is empty.
    ///
    /// A box that reaches an edge of the plane extends beyond it, because rounding may move a cluster's centre there.
    private func planarBox(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> UnitBox {
        let (options, projection) = (options, options.projection)
        let domain = projection.domain
        return UnitBox(
            minimumX: west <= domain.west ? -1 : options.rounded(projection.x(longitude: west)),
            minimumY: north >= domain.north ? -1 : options.rounded(projection.y(latitude: north)),
            maximumX: east >= domain.east ? 2 : options.rounded(projection.x(longitude: east)),
            maximumY: south <= domain.south ? 2 : options.rounded(projection.y(latitude: south)))
    }

    /// A node of a tile, and the tile's column as seen from the node's copy of the world.
    public struct TileNode: Sendable, BitwiseCopyable {
        public let node: Node
        /// The tile's column as seen from the node's copy of the world: `x`, or beyond its edge if the tile's
        /// margin crosses the antimeridian.
        public let column: Double

        public init(node: Node, column: Double) { (self.node, self.column) = (node, column) }
    }

    /// Finds the nodes of a tile and of a margin of one radius around it, as supercluster's `getTile` does.
    ///
    /// - Parameters:
    ///   - z: the tile's zoom, 0 or more. For zooms deeper than the index's levels, its deepest level is used.
    ///   - x: the tile's column, 0 to 2^z - 1.
    ///   - y: the tile's row, 0 to 2^z - 1.
    public func tileNodes(z: Int, x: Double, y: Double, into found: inout [TileNode]) {
        found.removeAll(keepingCapacity: true)
        guard pointCount > 0 else { return }
        let level = level(for: Double(z))
        var nodes: [Node] = []
        forEachPart(ofTile: z, x, y) { box, column in
            nodes.removeAll(keepingCapacity: true)
            _ = collect(box, level, .max, &nodes)
            found.reserveCapacity(found.count + nodes.count)
            for node in nodes { found.append(TileNode(node: node, column: column)) }
        }
    }

    /// The columns from which a tile, as `tileNodes` sees it, shows a position; none if it does not.
    public func columns(showing longitude: Double, _ latitude: Double, inTile z: Int, x: Double, y: Double) -> [Double]
    {
        let position = comparedPosition(longitude, latitude)
        var columns: [Double] = []
        forEachPart(ofTile: z, x, y) { box, column in
            if box.contains(position.x, position.y) { columns.append(column) }
        }
        return columns
    }

    /// Calls `body` with the boxes of a tile and its margin, beyond the antimeridian too, and with the tile's column
    /// as seen from each.
    @inline(__always) private func forEachPart(
        ofTile z: Int, _ x: Double, _ y: Double, _ body: (UnitBox, _ column: Double) -> Void
    ) {
        let scale = Double(sign: .plus, exponent: z, significand: 1)
        let margin = margin(at: z)
        func part(_ left: Double, _ right: Double) -> UnitBox {
            UnitBox(
                minimumX: left, minimumY: (y - margin) / scale, maximumX: right, maximumY: (y + 1 + margin) / scale)
        }
        body(part((x - margin) / scale, (x + 1 + margin) / scale), x)
        guard options.projection.isRound else { return }
        if x == 0 { body(part(1 - margin / scale, 1), scale) }
        if x == scale - 1 { body(part(0, margin / scale), -1) }
    }

    /// Wraps a longitude to the range from -180 to 180, excluding 180, as supercluster does.
    private static func wrapped(_ longitude: Double) -> Double {
        ((longitude + 180).truncatingRemainder(dividingBy: 360) + 360).truncatingRemainder(dividingBy: 360) - 180
    }

    /// How far outside a tile its features may lie, in units of the tile's side: the radius of the level shown.
    func margin(at zoom: Int) -> Double {
        options.radii[min(max(zoom, 0), ClusteringOptions.deepestZoom)] / options.extent
    }

    func visitNodes(in box: UnitBox, at zoom: Zoom, _ body: (NodeKey, Double, Double) -> Void) {
        guard box.minimumX <= box.maximumX, box.minimumY <= box.maximumY else { return }
        let level = max(options.minimumZoom, min(zoom.rawValue, options.maximumZoom + 1))
        layers.visitNodes(in: box, level: level, body)
    }

    func collect(_ box: UnitBox, _ zoom: Zoom, _ limit: Int, _ found: inout [Node]) -> Bool {
        guard box.minimumX <= box.maximumX, box.minimumY <= box.maximumY else { return false }
        let level = max(options.minimumZoom, min(zoom.rawValue, options.maximumZoom + 1))
        // Reading through the layers copies them, which takes as long as the smallest queries of a plain index.
        if isPlain { return layers.base.collect(box, level: level, limit: limit, into: &found) }
        return layers.collect(box, level: level, limit: limit, into: &found)
    }
}
