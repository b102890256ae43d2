// SPDX-License-Identifier: MIT
import SystemSupport

extension ClusterIndex {
    /// The same index with its large columns in a mapped file. This one stays unchanged, and its columns use their memory until it is
    /// released.
    ///
    /// The small columns, and the boxes and low levels with which a query begins, stay in memory.
    ///
    /// - Parameters:
    ///   - least: columns of fewer bytes stay in memory.
    ///   - map: copies bytes to a mapped file.
    /// - Returns: nil if no column is large enough, the index has no clusters, or it is mapped already.
    /// - Complexity: O(bytes).
    package func mapped<Failure: Error>(
        columnsFrom least: Int = 1 << 16,
        _ map: ([UnsafeRawBufferPointer]) throws(Failure) -> MappedRegion
    ) throws(Failure) -> ClusterIndex? {
        let base = layers.base
        guard base.clusterCount > 0, base.region == nil else { return nil }
        var gathered = ColumnMove(least: least)
        _ = base.moved(by: &gathered)
        guard !gathered.contents.isEmpty else { return nil }
        gathered.region = try map(gathered.contents)
        var moved = layers
        moved.base = base.moved(by: &gathered)
        return ClusterIndex(moved, lineage: lineage)
    }
}

/// Moves columns to a mapped file: the first pass over the columns gathers the large ones, the second, once there is a region, replaces
/// them.
///
/// Invariant: both passes see the same columns in the same order, so a column and its piece have the same bytes.
private struct ColumnMove {
    let least: Int
    var contents: [UnsafeRawBufferPointer] = []
    var region: MappedRegion?
    private var next = 0

    init(least: Int) { self.least = least }

    mutating func take<Element: BitwiseCopyable>(_ column: Column<Element>) -> Column<Element> {
        guard column.memoryBytes >= max(1, least) else { return column }
        guard let region else {
            contents.append(column.bytes)
            return column
        }
        defer { next += 1 }
        guard let start = region.pieces[next].baseAddress else { return column }
        return Column(
            base: start.assumingMemoryBound(to: Element.self), count: column.count, owner: region)
    }
}

extension BaseIndex {
    fileprivate func moved(by move: inout ColumnMove) -> BaseIndex {
        let columns = columns.moved(by: &move)
        let spatial: Spatial =
            switch spatial {
            case .float(let index): .float(index.moved(by: &move))
            case .double(let index): .double(index.moved(by: &move))
            }
        return BaseIndex(
            options: options, pointCount: pointCount, idOffset: idOffset, columns: columns, spatial: spatial,
            region: move.region)
    }
}

extension ClusterColumns {
    fileprivate func moved(by move: inout ColumnMove) -> ClusterColumns {
        ClusterColumns(
            x: move.take(x), y: move.take(y), counts: move.take(counts), zooms: move.take(zooms),
            originIndexes: move.take(originIndexes), ordinalsByOrigin: move.take(ordinalsByOrigin),
            childStarts: move.take(childStarts), children: move.take(children),
            leafStarts: move.take(leafStarts), leaves: move.take(leaves), parents: move.take(parents),
            weights: weights.map { move.take($0) }, partitions: partitions.map { move.take($0) },
            ranges: ranges)
    }
}

extension SpatialIndex {
    fileprivate func moved(by move: inout ColumnMove) -> SpatialIndex {
        SpatialIndex(
            self, slots: move.take(slots), alive: move.take(alive), wordBoxes: move.take(wordBoxes))
    }
}
