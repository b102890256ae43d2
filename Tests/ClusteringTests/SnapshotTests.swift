// SPDX-License-Identifier: MIT
import Testing

@testable import Clustering

@Suite("Sections") struct SnapshotTests {
    /// An index's sections, copied into aligned memory of their own.
    private final class Copy: IndexMemory, @unchecked Sendable {
        var isDamaged: Bool { false }
        var isResident = true
        var isEvictable: Bool { false }
        var sections: [IndexSection: UnsafeMutableRawBufferPointer] = [:]

        init(_ index: ClusterIndex) {
            index.forEachSection { section, bytes in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
                copy.copyMemory(from: bytes)
                sections[section] = copy
            }
        }

        deinit { for bytes in sections.values { bytes.deallocate() } }

        func open(_ options: ClusteringOptions, _ count: Int) throws -> ClusterIndex {
            try ClusterIndex.onSections(
                options: options, pointCount: count, memory: self,
                sections: sections.mapValues { UnsafeRawBufferPointer($0) })
        }
    }

    static let optionSets = [
        ClusteringOptions(), ClusteringOptions(maximumZoom: 20, precision: .double),
        ClusteringOptions(precision: .fixed), ClusteringOptions(maximumZoom: 6, projection: PlaneTests.plane),
        ClusteringOptions(minimumZoom: 3, maximumZoom: 9, minimumPoints: 4),
    ]

    @Test("an index on copied sections answers as the one they came from", arguments: optionSets)
    func roundTrip(_ options: ClusteringOptions) throws {
        for count in [0, 1, 64, 700] {
            let places = PointSet.gathered.places(count)
            let index = try ClusterIndex.build(places, options, weights: places.map { _ in 2 })
            let mapped = try Copy(index).open(options, count)
            for zoom in options.minimumZoom...options.maximumZoom + 1 {
                #expect(mapped.all(at: zoom) == index.all(at: zoom))
            }
            for ordinal in 0..<UInt32(index.clusterCount) {
                let cluster = ClusterOrdinal(rawValue: ordinal)
                #expect(Array(mapped.leaves(of: cluster)) == Array(index.leaves(of: cluster)))
                #expect(mapped.weight(of: cluster) == index.weight(of: cluster))
            }
        }
    }

    @Test("levels of an index that lies in a file are not read ahead") func levelsInFiles() throws {
        let places = PointSet.uniform.places(900)
        for isResident in [true, false] {
            let copy = Copy(try ClusterIndex.build(places, ClusteringOptions()))
            copy.isResident = isResident
            let index = try copy.open(ClusteringOptions(), places.count)
            index.prepareForUpdates()
            let levels = index.takeLevels() as? UpdatedLevels<Float>
            #expect((levels?.filled.isEmpty ?? true) == !isResident)
        }
    }

    /// Updates a damaged index, with levels in memory, and makes the changes over an intact one and the other way round.
    private func update(_ damaged: ClusterIndex, _ intact: ClusterIndex, _ places: [Position]) {
        var changes = PointChanges()
        changes.moved = (0..<9).map { .init(point: PointIndex(rawValue: $0), longitude: Double($0), latitude: 5) }
        let points = changes.moved.map(\.point)
        @Sendable func place(_ point: PointIndex) -> (longitude: Double, latitude: Double) {
            (places[Int(point.rawValue)].longitude, places[Int(point.rawValue)].latitude)
        }
        damaged.prepareForUpdates()
        for (start, target) in [(damaged, intact), (intact, damaged)] {
            let updated = start.updated(changes, coordinates: place)?.index
            _ = updated?.rebased(
                from: start, onto: target, changed: points, isOnDisk: { _ in false }, coordinates: place)
        }
    }

    @Test("a section that is cut short is rejected, and zeros in one do no harm", arguments: IndexSection.allCases)
    func damage(_ section: IndexSection) throws {
        let places = PointSet.gathered.places(300)
        let options = ClusteringOptions(minimumZoom: 2)
        let index = try ClusterIndex.build(places, options)
        var random = SeededGenerator(state: UInt64(section.rawValue))
        for _ in 0..<200 {
            let copy = Copy(index)
            guard let bytes = copy.sections[section], !bytes.isEmpty else { continue }
            let isCut = !Bool.random(using: &random)
            if !isCut {
                // A page that could not be read.
                let start = Int.random(in: 0..<bytes.count, using: &random) & ~63
                let end = min(bytes.count, start + 64 * Int.random(in: 1...64, using: &random))
                for place in start..<end { bytes[place] = 0 }
            } else {
                let kept = Int.random(in: 0..<bytes.count, using: &random)
                let cut = UnsafeMutableRawBufferPointer.allocate(byteCount: kept, alignment: 8)
                cut.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[0..<kept]))
                bytes.deallocate()
                copy.sections[section] = cut
            }
            do {
                let mapped = try copy.open(options, places.count)
                for zoom in 2...17 { _ = mapped.seen(at: zoom) }
                for ordinal in 0..<UInt32(mapped.clusterCount) {
                    let cluster = ClusterOrdinal(rawValue: ordinal)
                    _ = mapped.children(of: cluster).map { mapped.parent(of: $0) }
                    // An optimized build frees an array that nobody uses before it fills it.
                    withExtendedLifetime(Array(mapped.leaves(of: cluster))) {}
                }
                for point in 0..<UInt32(places.count) {
                    _ = mapped.node(showing: PointIndex(rawValue: point), at: Zoom(rawValue: 2))
                }
                // Checksums tell before an update that a section is shorter.
                if !isCut { update(mapped, index, places) }
            } catch is IndexSectionError {
            }
        }
    }
}
