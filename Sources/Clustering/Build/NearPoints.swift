// SPDX-License-Identifier: MIT
import SystemSupport

/// The points that have others near them at the deepest zooms, clustered there without those that are alone.
///
/// A point that is alone at a zoom and at all deeper ones has no effect at these (`LoneDistances`). If points are sparse,
/// that is most of them, and a pass for each of these zooms would only copy them. One sweep finds all that are not
/// alone; the others come back with what these have become.
struct NearPoints<Scalar: Coordinate> {
    /// The points that are not alone.
    let list: LevelList<Scalar>
    /// The deepest zooms, at which all others are alone.
    let zooms: ClosedRange<Int>
    /// By position in the list of all points: whether `list` has it, as a removed node.
    private let taken: Scratch<UInt8>

    /// Finds the points of the deepest level that are not alone.
    ///
    /// - Parameter sweep: what it has found of another level is lost.
    /// - Returns: nil if too few points are alone for it to save time, or if the build is cancelled.
    init?(
        of all: LevelList<Scalar>, centers: Centers<Scalar>, options: ClusteringOptions,
        by sweep: NeighbourSweep<Scalar>, parallel: Parallel
    ) {
        let found = LoneDistances(options, pointCount: all.count).zoom { distance in
            LevelRadius<Scalar>(distance).rowHeight <= all.height
                && all.shareNear(within: Scalar(distance)) <= Self.greatestShare
        }
        guard let found, options.maximumZoom - found.zoom + 1 >= Self.fewestZooms else { return nil }
        zooms = found.zoom...options.maximumZoom
        taken = Scratch(capacity: all.count)
        guard
            sweep.run(
                all, centers: centers, radius: LevelRadius(found.distance), states: taken.base, parallel: parallel)
        else { return nil }
        Self.mark(taken, sweep, all, parallel)
        list = Self.points(of: all, in: taken, options, parallel)
    }

    /// If more of the points have others near them, a zoom less is clustered without the rest.
    private static var greatestShare: Double { 0.2 }
    /// The sweep and the division of the list take about as long as the passes of three or four zooms.
    private static var fewestZooms: Int { 5 }

    /// Marks both points of each pair that a sweep has found.
    private static func mark(
        _ taken: Scratch<UInt8>, _ sweep: NeighbourSweep<Scalar>, _ all: LevelList<Scalar>, _ parallel: Parallel
    ) {
        let (pending, heads, links) = (sweep.pending(in: all), sweep.heads, sweep.pool.links)
        // Several threads may mark a point.
        func mark(_ position: UInt32) {
            taken.atomic(Int(position)).pointee.store(ClaimState.claimed, ordering: .relaxed)
        }
        parallel.run(pending.count) { share in
            for position in pending[share] {
                mark(position)
                var link = heads.base[Int(position)]
                while link != NeighbourLink.none {
                    mark(links[link].earlier)
                    link = links[link].next
                }
            }
        }
        withExtendedLifetime(sweep) {}
    }

    private static func points(
        of all: LevelList<Scalar>, in taken: Scratch<UInt8>, _ options: ClusteringOptions, _ parallel: Parallel
    ) -> LevelList<Scalar> {
        let (before, total) = parallel.sums(of: all.count) { range in
            range.reduce(0) { $0 &+ Int(taken.base[$1] & ClaimState.removedBit) }
        }
        return LevelList(
            capacity: total, rowHeight: LevelRadius<Scalar>(options.unitRadius(at: options.maximumZoom)).rowHeight,
            partitions: all.partitions, parallel: parallel
        ) { entries in
            parallel.forEachShare(of: all.count) { share, range in
                var index = before[share]
                for position in range where taken.base[position] & ClaimState.removedBit != 0 {
                    entries[index] = all.entries[position]
                    index &+= 1
                }
            }
        }
    }

    /// Makes the list of all points that of the level above `zooms`.
    ///
    /// - Parameters:
    ///   - states: of the nodes of `list`, at the shallowest of the zooms.
    ///   - arrived: the number of its arrivals.
    func rejoin(_ all: LevelList<Scalar>, states: UnsafePointer<UInt8>, arrived: Int) {
        list.advance(states: states, arrived: arrived, height: 0)
        all.arrivals.update(from: list.entries, count: list.count)
        all.advance(states: taken.base, arrived: list.count, height: 0)
    }
}
