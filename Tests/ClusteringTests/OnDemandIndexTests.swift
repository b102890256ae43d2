// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import Clustering

@Suite("Indexes that are loaded as queries need them")
struct OnDemandIndexTests {
    /// Sections in memory that contains zeros until they are loaded. Used by one thread.
    private final class Sections: IndexLoader, @unchecked Sendable {
        private(set) var memory: [IndexSection: UnsafeMutableRawBufferPointer] = [:]
        private var contents: [IndexSection: [UInt8]] = [:]
        private(set) var loadedBytes = 0
        private(set) var points: [PointIndex] = []
        /// How many loads succeed.
        var remaining = Int.max

        init(_ index: ClusterIndex) {
            index.forEachSection { section, bytes in
                contents[section] = Array(bytes)
                let room = UnsafeMutableRawBufferPointer.allocate(
                    byteCount: max(8, bytes.count), alignment: 8)
                room.initializeMemory(as: UInt8.self, repeating: 0)
                memory[section] = UnsafeMutableRawBufferPointer(rebasing: room[..<bytes.count])
            }
            for section in [IndexSection.wordBoxes, .zoomRanges] {
                _ = load(section, 0..<(contents[section]?.count ?? 0))
            }
            loadedBytes = 0
        }

        deinit { for bytes in memory.values { bytes.deallocate() } }

        var bytes: Int { contents.values.reduce(0) { $0 + $1.count } }

        /// Puts a value where another was.
        func overwrite<Value: BitwiseCopyable>(_ section: IndexSection, _ value: Value) {
            guard let count = contents[section]?.count, count >= MemoryLayout<Value>.stride else { return }
            let bytes = withUnsafeBytes(of: value) { Array($0) }
            for start in stride(from: 0, through: count - bytes.count, by: bytes.count) {
                contents[section]?.replaceSubrange(start..<start + bytes.count, with: bytes)
            }
        }

        func load(_ section: IndexSection, _ bytes: Range<Int>) -> Bool {
            guard remaining > 0, let content = contents[section], let room = memory[section],
                bytes.upperBound <= content.count
            else { return false }
            remaining -= 1
            loadedBytes += bytes.count
            for place in bytes { room[place] = content[place] }
            return true
        }

        func load(_ point: PointIndex) -> Bool {
            guard remaining > 0 else { return false }
            remaining -= 1
            points.append(point)
            return true
        }

        func open(_ index: ClusterIndex) throws -> ClusterIndex {
            try ClusterIndex.onDemand(
                options: index.options, pointCount: index.pointCount, owner: self,
                sections: memory.mapValues { UnsafeRawBufferPointer($0) }, loader: self)
        }
    }

    /// What an answer says about a node.
    private func shown(_ node: Node, _ index: ClusterIndex) -> String {
        switch node {
        case .point(let point): return "\(point.rawValue)"
        case .cluster(let cluster):
            let partition = index.partition(of: cluster).map(Int.init) ?? -1
            let (summary, zoom) = (index.summary(of: cluster), index.expansionZoom(of: cluster))
            return "\(summary) \(zoom) \(index.weight(of: cluster) ?? 0) \(partition)"
        }
    }

    private static func build(_ set: PointSet, _ options: ClusteringOptions, count: Int = 3000) throws
        -> ClusterIndex
    {
        let places = set.places(count)
        let weights = places.indices.map { Double($0 % 7 + 1) }
        return try ClusterIndex.build(
            places, options, weights: options.precision == .float ? nil : weights,
            partitions: options.precision == .double ? places.indices.map { UInt32($0 % 3) } : nil)
    }

    @Test(
        "they answer every level as the index does, and load no other points than those of the answer",
        arguments: SnapshotTests.optionSets, [PointSet.gathered, .uniform, .duplicates, .edges])
    func sameAnswers(_ options: ClusteringOptions, _ set: PointSet) throws {
        let index = try Self.build(set, options)
        let sections = Sections(index)
        let found = try sections.open(index)
        #expect(found.pointCount == index.pointCount && found.isMapped && !found.isLost)
        for zoom in stride(from: options.maximumZoom + 1, through: options.minimumZoom, by: -1) {
            for (west, east, north) in [(-180.0, 180.0, 85.0), (-20, 60, 40), (170, -100, 70), (1, 2, 3)]
            where options.projection.isRound || west < east {
                for limit in [Int.max, 7, 0] {
                    let before = sections.points.count
                    var (expected, actual): ([Node], [Node]) = ([], [])
                    let more = index.nodes(
                        west: west, south: -85, east: east, north: north, at: Zoom(rawValue: zoom),
                        limit: limit, into: &expected)
                    let same = found.nodes(
                        west: west, south: -85, east: east, north: north, at: Zoom(rawValue: zoom),
                        limit: limit, into: &actual)
                    #expect(more == same && expected == actual)
                    #expect(expected.map { shown($0, index) } == actual.map { shown($0, found) })
                    let points = actual.filter { if case .point = $0 { true } else { false } }
                    #expect(sections.points.count - before == points.count)
                }
            }
            var (expected, actual): ([ClusterIndex.TileNode], [ClusterIndex.TileNode]) = ([], [])
            let (x, y) = (Double((1 << zoom) / 2), Double((1 << zoom) / 4))
            index.tileNodes(z: zoom, x: x, y: y, into: &expected)
            found.tileNodes(z: zoom, x: x, y: y, into: &actual)
            #expect(
                expected.map(\.node) == actual.map(\.node) && expected.map(\.column) == actual.map(\.column))
        }
        #expect(!found.isLost)
    }

    @Test("a small view loads little of a large index")
    func loadsLittle() throws {
        let index = try Self.build(.gathered, ClusteringOptions(), count: 100_000)
        let sections = Sections(index)
        let found = try sections.open(index)
        var nodes: [Node] = []
        _ = index.nodes(
            west: -180, south: -85, east: 180, north: 85, at: Zoom(rawValue: 14), limit: 1, into: &nodes)
        guard case .cluster(let cluster)? = nodes.first else { return }
        let (x, y) = index.coordinates(of: cluster)
        _ = found.nodes(
            west: x - 0.02, south: y - 0.02, east: x + 0.02, north: y + 0.02, at: Zoom(rawValue: 14),
            into: &nodes)
        #expect(!nodes.isEmpty && sections.loadedBytes < sections.bytes / 20)
    }

    @Test("once something cannot be loaded they are lost and find nothing")
    func failedLoads() throws {
        let index = try Self.build(.gathered, ClusteringOptions(), count: 500)
        var nodes: [Node] = []
        var loads = 0
        var isLost = true
        while isLost {
            let sections = Sections(index)
            sections.remaining = loads
            let found = try sections.open(index)
            _ = found.nodes(west: -180, south: -85, east: 180, north: 85, at: Zoom(rawValue: 9), into: &nodes)
            isLost = found.isLost
            #expect(isLost == (sections.remaining == 0))
            sections.remaining = .max
            _ = found.nodes(west: -180, south: -85, east: 180, north: 85, at: Zoom(rawValue: 9), into: &nodes)
            #expect(nodes.isEmpty == isLost)
            loads += 13
        }
        #expect(nodes == index.all(at: 9))
    }

    @Test("numbers that lead outside of the index are not followed")
    func wrongNumbers() throws {
        let index = try Self.build(.gathered, ClusteringOptions(), count: 500)
        for section in [IndexSection.spatialSlots, .alive] {
            let sections = Sections(index)
            sections.overwrite(section, section == .alive ? [UInt64.max][0] : UInt64.max - 1)
            let found = try sections.open(index)
            var nodes: [Node] = []
            for zoom in 0...17 {
                _ = found.nodes(
                    west: -180, south: -85, east: 180, north: 85, at: Zoom(rawValue: zoom), into: &nodes)
            }
            // Slots of which no number is one make positions that no box contains.
            #expect(nodes.isEmpty || section == .alive)
            #expect(found.isLost)
        }
    }
}
