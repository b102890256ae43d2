// SPDX-License-Identifier: MIT
import Glibc

/// The order in which kdbush's k-d tree, as supercluster builds it, reports neighbours.
///
/// Only that order is needed: it determines the order in which members of a group that stayed too small are
/// passed to the next level (`minPoints` above 2). The selection is Floyd and Rivest's (Algorithm 489,
/// Communications of the ACM 18(3), 1975), with kdbush's choice of pivots.
struct KDTreeOrder<Scalar: Coordinate> {
    private static var nodeSize: Int { 64 }

    private let count: Int
    private let ids: Scratch<UInt32>
    private let coordinates: Scratch<Scalar>

    /// - Parameter fill: writes x and y of each of the level's nodes, in list order.
    /// - Complexity: O(count × log count).
    init(count: Int, fill: (Scratch<Scalar>) -> Void) {
        self.count = count
        ids = Scratch(capacity: count)
        coordinates = Scratch(capacity: 2 * count)
        for index in 0..<count { ids.base[index] = UInt32(truncatingIfNeeded: index) }
        fill(coordinates)
        sort(0, count - 1, axis: 0)
    }

    /// Calls `body` with each node within `radius` of a position, in the tree's order.
    func forEachWithin(x: Double, y: Double, radius: Double, _ body: (UInt32) -> Void) {
        guard count > 0 else { return }
        let squared = radius * radius
        var stack = [(left: 0, right: count - 1, axis: 0)]
        while let (left, right, axis) = stack.popLast() {
            if right - left <= Self.nodeSize {
                var index = left
                while index <= right {
                    if squaredDistance(index, x, y) <= squared { body(ids.base[index]) }
                    index += 1
                }
                continue
            }
            let middle = (left + right) / 2
            if squaredDistance(middle, x, y) <= squared { body(ids.base[middle]) }
            let split = Double(coordinates.base[2 * middle + axis])
            let query = axis == 0 ? x : y
            if query - radius <= split { stack.append((left, middle - 1, 1 - axis)) }
            if query + radius >= split { stack.append((middle + 1, right, 1 - axis)) }
        }
    }

    @inline(__always) private func squaredDistance(_ index: Int, _ x: Double, _ y: Double) -> Double {
        let dx = Double(coordinates.base[2 * index]) - x
        let dy = Double(coordinates.base[2 * index + 1]) - y
        return dx * dx + dy * dy
    }

    private func sort(_ left: Int, _ right: Int, axis: Int) {
        if right - left <= Self.nodeSize { return }
        let middle = (left + right) / 2
        select(middle, left, right, axis)
        sort(left, middle - 1, axis: 1 - axis)
        sort(middle + 1, right, axis: 1 - axis)
    }

    private func select(_ k: Int, _ from: Int, _ to: Int, _ axis: Int) {
        var left = from
        var right = to
        let values = coordinates.base
        while right > left {
            if right - left > 600 { selectSample(k, left, right, axis) }
            let pivot = values[2 * k + axis]
            var i = left
            var j = right
            swapItems(left, k)
            if values[2 * right + axis] > pivot { swapItems(left, right) }
            while i < j {
                swapItems(i, j)
                i += 1
                j -= 1
                while values[2 * i + axis] < pivot { i += 1 }
                while values[2 * j + axis] > pivot { j -= 1 }
            }
            if values[2 * left + axis] == pivot {
                swapItems(left, j)
            } else {
                j += 1
                swapItems(j, right)
            }
            if j <= k { left = j + 1 }
            if k <= j { right = j - 1 }
        }
    }

    private func selectSample(_ k: Int, _ left: Int, _ right: Int, _ axis: Int) {
        let n = Double(right - left + 1)
        let m = Double(k - left + 1)
        let z = log(n)
        let s = 0.5 * exp(2 * z / 3)
        let deviation = 0.5 * (z * s * (n - s) / n).squareRoot() * (m - n / 2 < 0 ? -1 : 1)
        let sampleLeft = max(left, Int((Double(k) - m * s / n + deviation).rounded(.down)))
        let sampleRight = min(right, Int((Double(k) + (n - m) * s / n + deviation).rounded(.down)))
        select(k, sampleLeft, sampleRight, axis)
    }

    @inline(__always) private func swapItems(_ i: Int, _ j: Int) {
        let id = ids.base[i]
        ids.base[i] = ids.base[j]
        ids.base[j] = id
        for axis in 0..<2 {
            let value = coordinates.base[2 * i + axis]
            coordinates.base[2 * i + axis] = coordinates.base[2 * j + axis]
            coordinates.base[2 * j + axis] = value
        }
    }
}
