// SPDX-License-Identifier: MIT
import CPrefetch
import SystemSupport

/// The claimants among the nodes of a level that come one after another in order: a window of the order.
///
/// Claimants alone decide what becomes of later nodes, so the others need not be kept. A claimant is found by the cell of a
/// grid in which it lies, in a table of a fixed size. If the table is full, the window ends: what none of its claimants
/// reaches is left to the next one.
///
/// Not safe for concurrent use.
public final class ClaimWindow {
    private struct Claimant: BitwiseCopyable {
        var x: Double
        var y: Double
        var order: UInt32
        var partition: UInt32
    }

    private let slots: Scratch<Claimant>
    private let slotCount: Int
    private let most: Int
    private let squared: Double
    /// Beyond this distance along one axis, nothing is reached, rounding included.
    private let reach: Double
    private let scale: Double
    private let isFloat: Bool
    /// The number of claimants.
    public private(set) var count = 0

    /// How much memory of the table each claimant takes.
    public static let bytesOfClaimant = slotsOfClaimant * MemoryLayout<Claimant>.stride

    /// So that a search soon finds an empty slot.
    private static let slotsOfClaimant = 2

    /// - Parameter memory: for the table, in bytes.
    public init(_ options: ClusteringOptions, zoom: Int, memory: Int) {
        let radius = options.unitRadius(at: zoom)
        isFloat = options.precision == .float
        squared = radius * radius
        reach = radius * (1 + 1e-9) + 2 * (isFloat ? Float.roundingSlack : Double.roundingSlack)
        // What a node reaches lies in at most four cells.
        scale = 1 / (2 * reach)
        slotCount = max(16, memory / MemoryLayout<Claimant>.stride)
        most = slotCount / Self.slotsOfClaimant
        slots = Scratch(capacity: slotCount)
        removeAll()
    }

    /// Whether no more claimants can be added.
    public var isFull: Bool { count >= most }

    /// Begins the next window.
    public func removeAll() {
        count = 0
        slots.base.update(
            repeating: Claimant(x: 0, y: 0, order: NodeNumber.none, partition: 0), count: slotCount)
    }

    /// The order of the node that claims a later one; nil if none of the window does.
    ///
    /// - Complexity: O(1) expected: no two claimants are within one radius.
    public func claimant(of node: LevelNode) -> UInt32? {
        let (x, y) = isFloat ? (Double(Float(node.x)), Double(Float(node.y))) : (node.x, node.y)
        let (west, east, north, south) = (cell(x - reach), cell(x + reach), cell(y - reach), cell(y + reach))
        var first = NodeNumber.none
        var row = north
        while row <= south {
            var column = west
            while column <= east {
                var slot = start(column, row, node.partition)
                while slots.base[slot].order != NodeNumber.none {
                    let other = slots.base[slot]
                    let (dx, dy) = (x - other.x, y - other.y)
                    if dx * dx + dy * dy <= squared, other.order < first, other.partition == node.partition {
                        first = other.order
                    }
                    slot = slot &+ 1 == slotCount ? 0 : slot &+ 1
                }
                column &+= 1
            }
            row &+= 1
        }
        return first == NodeNumber.none ? nil : first
    }

    /// Adds a claimant; the window must not be full.
    public func add(_ node: LevelNode) {
        var slot = start(cell(node.x), cell(node.y), node.partition)
        while slots.base[slot].order != NodeNumber.none { slot = slot &+ 1 == slotCount ? 0 : slot &+ 1 }
        slots.base[slot] = Claimant(x: node.x, y: node.y, order: node.order, partition: node.partition)
        count += 1
    }

    /// Fetches the memory that `claimant` will need.
    public func fetch(_ node: LevelNode) {
        let (west, east) = (cell(node.x - reach), cell(node.x + reach))
        let (north, south) = (cell(node.y - reach), cell(node.y + reach))
        clusterd_prefetch(slots.base + start(west, north, node.partition))
        if east != west { clusterd_prefetch(slots.base + start(east, north, node.partition)) }
        guard south != north else { return }
        clusterd_prefetch(slots.base + start(west, south, node.partition))
        if east != west { clusterd_prefetch(slots.base + start(east, south, node.partition)) }
    }

    @inline(__always) private func cell(_ value: Double) -> Int { Int((value * scale).rounded(.down)) }

    /// The first slot for the claimants of a cell.
    @inline(__always) private func start(_ column: Int, _ row: Int, _ partition: UInt32) -> Int {
        var hash = UInt64(bitPattern: Int64(column)) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 32) ^ UInt64(partition)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 29) ^ UInt64(bitPattern: Int64(row))) &* 0x94D0_49BB_1331_11EB
        return Int((hash ^ (hash >> 31)).multipliedFullWidth(by: UInt64(slotCount)).high)
    }
}

/// A cluster while its members are added: its claimant, then the members in order, so that sums are the same to the last
/// bit as those of a build of all at once.
public struct GrowingCluster {
    private let claimant: LevelNode
    private var (x, y, weight): (Double, Double, Double)
    private var points: UInt32
    /// The number of its children, the claimant among them.
    public private(set) var childCount = 1

    public init(_ claimant: LevelNode) {
        self.claimant = claimant
        (x, y) = (claimant.x * claimant.weight, claimant.y * claimant.weight)
        (weight, points) = (claimant.weight, claimant.count)
    }

    public mutating func add(_ member: LevelNode) {
        x += member.x * member.weight
        y += member.y * member.weight
        weight += member.weight
        points &+= member.count
        childCount += 1
    }

    /// The cluster, or the claimant if it has no members.
    public func node(_ options: ClusteringOptions, zoom: Int) -> LevelNode {
        guard childCount > 1 else { return claimant }
        return LevelNode(
            x: options.center(x, weight), y: options.center(y, weight), weight: weight, order: claimant.order,
            count: points, partition: claimant.partition, zoom: UInt32(truncatingIfNeeded: zoom))
    }
}
