// SPDX-License-Identifier: MIT
import SystemSupport

/// The convex hull of positions, in the plane of longitude and latitude.
public enum ConvexHull: Equatable, Sendable {
    /// All positions are equal.
    case point(Position)
    /// All positions are on one line: its two ends, the western (or southern) first.
    case line(Position, Position)
    /// Corners counter-clockwise, the first again at the end, none on the line between its neighbours.
    case polygon([Position])

    /// The hull of positions; nil if there are none.
    ///
    /// Andrew's monotone chain (1979) with an exact orientation test, after removing the positions inside the
    /// octagon of the outermost ones (Akl and Toussaint, 1978).
    ///
    /// - Parameter isCancelled: called from time to time.
    /// - Returns: nil if cancelled.
    /// - Complexity: O(n) for most data, O(n log n) at worst.
    public static func hull(
        of positions: [Position], isCancelled: () -> Bool = { false }
    ) -> ConvexHull? {
        guard !positions.isEmpty, !isCancelled() else { return nil }
        var corners = outside(of: octagon(around: positions), positions)
        if isCancelled() { return nil }
        guard sort(&corners, isCancelled) else { return nil }
        let first = corners[0]
        let last = corners[corners.count - 1]
        if first == last { return .point(first) }
        var ring = chain(corners)
        let upper = chain(corners.reversed())
        if ring.count == 2 && upper.count == 2 { return .line(first, last) }
        ring.removeLast()
        ring.append(contentsOf: upper)
        return .polygon(ring)
    }

    /// The number of positions sorted or merged between two checks for cancellation: a few milliseconds of work.
    private static let piece = 1 << 14

    /// Sorts from west to east, then from south to north: in pieces, which are then merged. Returns false if cancelled.
    private static func sort(_ positions: inout [Position], _ isCancelled: () -> Bool) -> Bool {
        var width = piece
        for start in stride(from: 0, to: positions.count, by: width) {
            if isCancelled() { return false }
            positions[start..<min(start + width, positions.count)].sort(by: isBefore)
        }
        var merged: [Position] = []
        while width < positions.count {
            merged.removeAll(keepingCapacity: true)
            merged.reserveCapacity(positions.count)
            for start in stride(from: 0, to: positions.count, by: 2 * width) {
                let middle = min(start + width, positions.count)
                let end = min(middle + width, positions.count)
                var (left, right) = (start, middle)
                while left < middle || right < end {
                    if merged.count % piece == 0, isCancelled() { return false }
                    if right == end || left < middle && !isBefore(positions[right], positions[left]) {
                        merged.append(positions[left])
                        left += 1
                    } else {
                        merged.append(positions[right])
                        right += 1
                    }
                }
            }
            swap(&positions, &merged)
            width *= 2
        }
        return !isCancelled()
    }

    private static func isBefore(_ first: Position, _ second: Position) -> Bool {
        first.longitude < second.longitude || (first.longitude == second.longitude && first.latitude < second.latitude)
    }

    /// The vertices of the chain: from the first to the last position, with all other positions on its left.
    private static func chain(_ positions: some Sequence<Position>) -> [Position] {
        var chain: [Position] = []
        for position in positions {
            while chain.count >= 2,
                Orientation.sign(chain[chain.count - 2].plane, chain[chain.count - 1].plane, position.plane)
                    <= 0
            {
                chain.removeLast()
            }
            if chain.last != position { chain.append(position) }
        }
        return chain
    }

    /// The outermost positions in eight directions, counter-clockwise from the west.
    private static func octagon(around positions: [Position]) -> [Position] {
        var extremes = [Position](repeating: positions[0], count: 8)
        var reach = [Double](repeating: -.infinity, count: 8)
        func consider(_ direction: Int, _ value: Double, _ position: Position) {
            if value > reach[direction] {
                reach[direction] = value
                extremes[direction] = position
            }
        }
        for position in positions {
            let (x, y) = (position.longitude, position.latitude)
            consider(0, -x, position)
            consider(1, -x - y, position)
            consider(2, -y, position)
            consider(3, x - y, position)
            consider(4, x, position)
            consider(5, x + y, position)
            consider(6, y, position)
            consider(7, y - x, position)
        }
        return extremes
    }

    /// The positions that are not certainly inside a ring of corners. Equal neighbours are first removed from the
    /// ring, because they have no inside.
    private static func outside(of ring: [Position], _ positions: [Position]) -> [Position] {
        var corners: [Position] = []
        for corner in ring where corner != corners.last { corners.append(corner) }
        if corners.count > 1, corners.first == corners.last { corners.removeLast() }
        guard corners.count >= 3 else { return positions }
        return positions.filter { position in
            for index in corners.indices {
                let next = index + 1 == corners.count ? 0 : index + 1
                if !Orientation.isCertainlyLeft(corners[index].plane, corners[next].plane, position.plane) {
                    return true
                }
            }
            return false
        }
    }
}

/// A position in degrees.
public struct Position: Hashable, Sendable, BitwiseCopyable {
    public var longitude: Double
    public var latitude: Double

    @inlinable public init(longitude: Double, latitude: Double) {
        self.longitude = longitude
        self.latitude = latitude
    }
}

extension Position {
    @inline(__always) var plane: SIMD2<Double> { SIMD2(longitude, latitude) }
}
