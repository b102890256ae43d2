// SPDX-License-Identifier: MIT
import Synchronization

/// Loads what queries read of an index that is still in a file: the slots and bits near the box, and the summaries of the nodes found.
final class IndexDemand: Sendable {
    private let loader: any IndexLoader
    private let failed = Atomic<Bool>(false)

    init(_ loader: any IndexLoader) { self.loader = loader }

    /// Whether something could not be loaded, so that answers are wrong. Never becomes false again.
    var hasFailed: Bool { failed.load(ordering: .acquiring) }

    func fail() { failed.store(true, ordering: .releasing) }

    /// Loads values of a section.
    @inline(__always) func load<Element: BitwiseCopyable>(
        _ section: IndexSection, _ values: Range<Int>, of type: Element.Type
    ) -> Bool {
        let size = MemoryLayout<Element>.stride
        return loader.load(section, values.lowerBound * size..<values.upperBound * size)
    }

    /// Loads what answers contain of a node.
    func load(_ node: Node, of base: BaseIndex) -> Bool {
        let number: Int
        switch node {
        case .point(let point):
            number = Int(point.rawValue)
            guard loader.load(point) else { return false }
        case .cluster(let cluster):
            let ordinal = Int(cluster.rawValue)
            number = base.pointCount + ordinal
            guard value(.clusterX, ordinal, of: Double.self), value(.clusterY, ordinal, of: Double.self),
                value(.clusterCounts, ordinal, of: UInt32.self),
                value(.clusterZooms, ordinal, of: UInt8.self),
                value(.originIndexes, ordinal, of: UInt32.self)
            else { return false }
        }
        return (base.columns.weights == nil || value(.weights, number, of: Double.self))
            && (base.columns.partitions == nil || value(.partitions, number, of: UInt32.self))
    }

    private func value<Element: BitwiseCopyable>(
        _ section: IndexSection, _ index: Int, of type: Element.Type
    ) -> Bool {
        load(section, index..<index + 1, of: type)
    }
}
