// SPDX-License-Identifier: MIT
import Foundation

@testable import Clustering

/// Supercluster's algorithm as it is documented, in plain arrays: the reference for the index.
///
/// Neighbours come from a k-d tree in a class of its own (not the index's), because where `minPoints` is
/// above 3 their order decides later ids.
struct ReferenceClustering {
    struct Item {
        var x: Double
        var y: Double
        var zoom = Int.max
        var id: Int
        var parent = -1
        var count = 1
        var weight = 1.0
        var partition = 0
    }

    var levels: [[Item]]
    let points: Int

    init(_ places: [Position], _ options: ClusteringOptions, weights: [Double]? = nil, partitions: [UInt32]? = nil) {
        points = places.count
        levels = Array(repeating: [], count: options.maximumZoom + 2)
        let precision = options.precision
        func rounded(_ value: Double) -> Double {
            switch precision {
            case .float: Double(Float(value))
            case .fixed: ((value - 0.5) * 0x1p30).rounded(.towardZero) * 0x1p-30 + 0.5
            case .double: value
            }
        }
        levels[options.maximumZoom + 1] = places.enumerated().map { index, place in
            Item(
                x: rounded(options.projection.x(longitude: place.longitude)),
                y: rounded(options.projection.y(latitude: place.latitude)), id: index,
                weight: weights?[index] ?? 1, partition: Int(partitions?[index] ?? 0))
        }
        for zoom in stride(from: options.maximumZoom, through: options.minimumZoom, by: -1) {
            let radius = options.radii[zoom] / (options.extent * pow(2, Double(zoom)))
            levels[zoom] = Self.cluster(
                &levels[zoom + 1], zoom: zoom, radius: radius, minimumPoints: options.minimumPoints,
                points: points, rounded: rounded, isFixed: precision == .fixed)
            // Supercluster 9 uses a level again if no cluster forms.
            let hasNew = levels[zoom].contains { $0.count > 1 && ($0.id - points) & 31 == zoom + 1 }
            if precision == .fixed, !hasNew {
                levels[zoom] = levels[zoom + 1].map { item in
                    var item = item
                    item.zoom = .max
                    return item
                }
            }
        }
    }

    private static func cluster(
        _ data: inout [Item], zoom: Int, radius: Double, minimumPoints: Int, points: Int,
        rounded: (Double) -> Double, isFixed: Bool
    ) -> [Item] {
        let tree = ReferenceTree(data.map { (rounded($0.x), rounded($0.y)) })
        var next: [Item] = []
        for i in data.indices where data[i].zoom > zoom {
            data[i].zoom = zoom
            let neighbours = tree.within(data[i].x, data[i].y, radius).filter {
                data[$0].zoom > zoom && data[$0].partition == data[i].partition
            }
            let total = neighbours.reduce(data[i].count) { $0 + data[$1].count }
            for neighbour in neighbours { data[neighbour].zoom = zoom }
            guard !neighbours.isEmpty, total >= minimumPoints else {
                next.append(data[i])
                next += neighbours.map { data[$0] }
                continue
            }
            let id = ((i << 5) | (zoom + 1)) + points
            var weight = data[i].weight
            var (x, y) = (data[i].x * weight, data[i].y * weight)
            for neighbour in neighbours.sorted() {
                x += data[neighbour].x * data[neighbour].weight
                y += data[neighbour].y * data[neighbour].weight
                weight += data[neighbour].weight
                data[neighbour].parent = id
            }
            data[i].parent = id
            next.append(
                Item(
                    x: isFixed ? rounded(x / weight) : x / weight,
                    y: isFixed ? rounded(y / weight) : y / weight, id: id, count: total, weight: weight,
                    partition: data[i].partition))
        }
        return next
    }

    /// What is seen at a zoom: `c<id>:<count>` and `p<index>`, sorted.
    func seen(at zoom: Int) -> [String] {
        levels[zoom].map { $0.count > 1 ? "c\($0.id):\($0.count)" : "p\($0.id)" }.sorted()
    }
}

/// A k-d tree as kdbush lays it out, with its order of answers.
private struct ReferenceTree {
    var ids: [Int]
    var places: [(Double, Double)]

    init(_ places: [(Double, Double)]) {
        ids = Array(places.indices)
        self.places = places
        sort(0, places.count - 1, 0)
    }

    private func value(_ index: Int, _ axis: Int) -> Double { axis == 0 ? places[index].0 : places[index].1 }

    private mutating func exchange(_ i: Int, _ j: Int) {
        ids.swapAt(i, j)
        places.swapAt(i, j)
    }

    private mutating func sort(_ left: Int, _ right: Int, _ axis: Int) {
        guard right - left > 64 else { return }
        let middle = (left + right) >> 1
        select(middle, left, right, axis)
        sort(left, middle - 1, 1 - axis)
        sort(middle + 1, right, 1 - axis)
    }

    private mutating func select(_ k: Int, _ from: Int, _ to: Int, _ axis: Int) {
        var (left, right) = (from, to)
        while right > left {
            if right - left > 600 {
                let (n, m) = (Double(right - left + 1), Double(k - left + 1))
                let z = log(n)
                let s = 0.5 * exp(2 * z / 3)
                let sd = 0.5 * sqrt(z * s * (n - s) / n) * (m - n / 2 < 0 ? -1 : 1)
                select(
                    k, max(left, Int(floor(Double(k) - m * s / n + sd))),
                    min(right, Int(floor(Double(k) + (n - m) * s / n + sd))), axis)
            }
            let t = value(k, axis)
            var (i, j) = (left, right)
            exchange(left, k)
            if value(right, axis) > t { exchange(left, right) }
            while i < j {
                exchange(i, j)
                i += 1
                j -= 1
                while value(i, axis) < t { i += 1 }
                while value(j, axis) > t { j -= 1 }
            }
            if value(left, axis) == t {
                exchange(left, j)
            } else {
                j += 1
                exchange(j, right)
            }
            if j <= k { left = j + 1 }
            if k <= j { right = j - 1 }
        }
    }

    func within(_ x: Double, _ y: Double, _ radius: Double) -> [Int] {
        var found: [Int] = []
        var stack = [(0, ids.count - 1, 0)]
        func test(_ index: Int) {
            let (dx, dy) = (places[index].0 - x, places[index].1 - y)
            if dx * dx + dy * dy <= radius * radius { found.append(ids[index]) }
        }
        while let (left, right, axis) = stack.popLast() {
            if right - left <= 64 {
                for index in stride(from: left, through: right, by: 1) { test(index) }
                continue
            }
            let middle = (left + right) >> 1
            test(middle)
            let query = axis == 0 ? x : y
            if query - radius <= value(middle, axis) { stack.append((left, middle - 1, 1 - axis)) }
            if query + radius >= value(middle, axis) { stack.append((middle + 1, right, 1 - axis)) }
        }
        return found
    }
}
