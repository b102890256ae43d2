// SPDX-License-Identifier: MIT
import SystemSupport
import Testing

@testable import Clustering

@Suite("The index agrees with the reference") struct ReferenceTests {
    static let optionSets: [ClusteringOptions] = [
        ClusteringOptions(), ClusteringOptions(radius: 80, maximumZoom: 10), ClusteringOptions(minimumPoints: 3),
        ClusteringOptions(radius: 60, minimumZoom: 2, maximumZoom: 12, minimumPoints: 5),
        ClusteringOptions(radius: 200, extent: 256, maximumZoom: 8, minimumPoints: 12),
        ClusteringOptions(radius: 10, maximumZoom: 24),
        ClusteringOptions(radius: 40, maximumZoom: 24, precision: .double),
        ClusteringOptions(radius: 40, maximumZoom: 24, precision: .fixed),
        ClusteringOptions(radius: 60, maximumZoom: 12, minimumPoints: 5, precision: .fixed),
        ClusteringOptions(maximumZoom: 12, projection: PlaneTests.plane),
        ClusteringOptions(radius: 90, maximumZoom: 7, precision: .double, projection: PlaneTests.plane),
        ClusteringOptions(radius: 0, maximumZoom: 4), ClusteringOptions(radius: 100, minimumZoom: 0, maximumZoom: 0),
    ]

    @Test("ids and counts at every zoom", arguments: PointSet.allCases, optionSets.indices)
    func everyZoom(_ set: PointSet, _ option: Int) throws {
        let options = Self.optionSets[option]
        let places = set.places(900, seed: UInt64(option + 1))
        let reference = ReferenceClustering(places, options)
        let index = try ClusterIndex.build(places, options)
        for zoom in options.minimumZoom...options.maximumZoom + 1 {
            #expect(index.seen(at: zoom) == reference.seen(at: zoom), "zoom \(zoom)")
        }
    }

    @Test("cluster centres", arguments: [PointSet.uniform, .gathered, .grid]) func centres(_ set: PointSet) throws {
        let places = set.places(2000)
        let options = ClusteringOptions()
        let reference = ReferenceClustering(places, options)
        let index = try ClusterIndex.build(places, options)
        for zoom in 0...16 {
            for item in reference.levels[zoom] where item.count > 1 {
                let cluster = try #require(index.cluster(id: Int64(item.id)))
                let (x, y) = index.unitPosition(of: cluster)
                #expect(abs(x - item.x) <= 1e-12)
                #expect(abs(y - item.y) <= 1e-12)
            }
        }
    }

    @Test(
        "the number of threads changes nothing",
        arguments: [PointSet.gathered, .uniform, .pairs, .crowd, .grid, .column])
    func threads(_ set: PointSet) throws {
        let places = set.places(20_000)
        for points in [2, 4] {
            let options = ClusteringOptions(maximumZoom: 12, minimumPoints: points)
            let one = try ClusterIndex.build(places, options, threads: 1)
            let two = try ClusterIndex.build(places, options, threads: 2)
            for zoom in 0...13 { #expect(one.seen(at: zoom) == two.seen(at: zoom), "zoom \(zoom)") }
        }
    }

    @Test(
        "shares of a few nodes, so that most neighbours are another thread's, change nothing",
        arguments: PointSet.allCases, optionSets.indices)
    func smallShares(_ set: PointSet, _ option: Int) throws {
        let options = Self.optionSets[option]
        let places = set.places(250, seed: UInt64(option + 7))
        let weights = (0..<places.count).map { Double($0 % 5 + 1) }
        let partitions = (0..<places.count).map { UInt32($0 % 3) }
        for (weights, partitions) in [(nil, nil), (weights, partitions)] {
            let one = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
            for (threads, share) in [(4, 7), (8, 40)] {
                let many = try ClusterIndex.build(
                    places, options, weights: weights, partitions: partitions, threads: threads, smallestShare: share)
                let changed = many.sections(otherThan: one)
                #expect(changed.isEmpty, "\(threads) threads, shares of \(share)")
            }
        }
    }

    @Test("clusters of one zoom in one cell of the curve are numbered by their origins, on any number of threads")
    func coincident() throws {
        var random = SeededGenerator(state: 3)
        // About two cells wide, so that hundreds of clusters of each deep zoom share a cell.
        let places = (0..<4000).map { _ in
            Position(
                longitude: 10 + .random(in: 0...1e-4, using: &random),
                latitude: 20 + .random(in: 0...1e-4, using: &random))
        }
        let options = ClusteringOptions(radius: 40, maximumZoom: 24, precision: .double)
        let one = try ClusterIndex.build(places, options)
        let columns = one.layers.base.columns
        func cell(_ ordinal: Int) -> UInt64 { ZOrderCurve.code(columns.x[ordinal], columns.y[ordinal]) }
        var together = 0
        for range in columns.ranges {
            for ordinal in range.dropFirst().map(Int.init) where cell(ordinal) == cell(ordinal - 1) {
                #expect(columns.originIndexes[ordinal - 1] < columns.originIndexes[ordinal])
                together += 1
            }
        }
        #expect(together > 500)
        for threads in [2, 4] {
            let many = try ClusterIndex.build(places, options, threads: threads, smallestShare: 7)
            #expect(many.sections(otherThan: one).isEmpty, "\(threads) threads")
        }
    }

    @Test(
        "the first rows are high if points are sparse, and as low as the radius if they are dense",
        arguments: [
            (PointSet.uniform, 6...14), (.gathered, 0...8), (.column, 0...7), (.crowd, 0...1),
            (.onePlace, 0...0),
        ])
    func firstRows(_ set: PointSet, _ doublings: ClosedRange<Int>) throws {
        let options = ClusteringOptions()
        let list = LevelList<Float>.deepest(of: try PointColumns(set.places(20_000), options), options)
        #expect(doublings.contains(list.firstDoublings()), "\(list.firstDoublings())")
    }

    /// A level judged crowded by mistake takes time that grows with the square of the nodes in a column.
    @Test(
        "nodes of many rows at the same x are not crowded, nodes of one row are",
        arguments: [(PointSet.column, false), (.uniform, false), (.crowd, true)])
    func crowded(_ set: PointSet, _ isCrowded: Bool) throws {
        let options = ClusteringOptions(maximumZoom: 13)
        let radius = LevelRadius<Float>(options.unitRadius(at: options.maximumZoom))
        let list = LevelList<Float>.deepest(of: try PointColumns(set.places(20_000), options), options)
        #expect(list.isCrowded(radius) == isCrowded)
    }

    @Test("strips of a crowded level wait for each other at their borders", arguments: [false, true])
    func crowdedStrips(_ isSorted: Bool) throws {
        var places = PointSet.crowd.places(6000)
        // Then each strip waits for the one before it.
        if isSorted { places.sort { $0.latitude < $1.latitude } }
        let partitions = (0..<places.count).map { UInt32($0 % 2) }
        for partitions in [nil, partitions] {
            let options = ClusteringOptions(radius: 160, maximumZoom: 16)
            let reference = ReferenceClustering(places, options, partitions: partitions)
            let one = try ClusterIndex.build(places, options, partitions: partitions)
            for zoom in 0...17 { #expect(one.seen(at: zoom) == reference.seen(at: zoom), "zoom \(zoom)") }
            for threads in [2, 4, 8] {
                let many = try ClusterIndex.build(
                    places, options, partitions: partitions, threads: threads, smallestShare: 7)
                #expect(many.sections(otherThan: one).isEmpty, "\(threads) threads")
            }
        }
    }

    @Test("a large reference, by shares of the work") func large() throws {
        let places = PointSet.gathered.places(17_000)
        let options = ClusteringOptions(minimumPoints: 4)
        let reference = ReferenceClustering(places, options)
        let index = try ClusterIndex.build(places, options, threads: 2)
        for zoom in 0...17 { #expect(index.seen(at: zoom) == reference.seen(at: zoom), "zoom \(zoom)") }
    }

    @Test("radius by zoom") func radiusByZoom() throws {
        var options = ClusteringOptions()
        options.radii = (0...24).map { $0 < 6 ? 60 : $0 < 12 ? 40 : 20 }
        for set in [PointSet.uniform, .gathered] {
            let places = set.places(3000)
            let reference = ReferenceClustering(places, options)
            let index = try ClusterIndex.build(places, options)
            for zoom in 0...17 { #expect(index.seen(at: zoom) == reference.seen(at: zoom), "zoom \(zoom)") }
        }
    }

    @Test("weights move centres, and partitions stay apart", arguments: [2, 4])
    func weightsAndPartitions(_ minimumPoints: Int) throws {
        let places = PointSet.gathered.places(3000)
        var random = SeededGenerator(state: 5)
        let weights = places.map { _ in Double.random(in: 0.1...9, using: &random) }
        let partitions = places.map { _ in UInt32.random(in: 0..<3, using: &random) }
        let options = ClusteringOptions(minimumPoints: minimumPoints)
        let reference = ReferenceClustering(places, options, weights: weights, partitions: partitions)
        let index = try ClusterIndex.build(places, options, weights: weights, partitions: partitions)
        for zoom in 0...17 { #expect(index.seen(at: zoom) == reference.seen(at: zoom), "zoom \(zoom)") }
        for case .cluster(let cluster) in index.all(at: 0) {
            let leaves = index.leaves(of: cluster)
            let expected = leaves.reduce(0) { $0 + weights[Int($1.rawValue)] }
            #expect(abs((index.weight(of: cluster) ?? 0) - expected) < 1e-6)
            #expect(Set(leaves.map { partitions[Int($0.rawValue)] }) == [index.partition(of: cluster)])
        }
    }

    @Test("all tiny point sets on a lattice") func tiny() throws {
        let lattice = (0..<6).map { Position(longitude: Double($0 % 3) * 5, latitude: Double($0 / 3) * 5) }
        for count in 0...3 {
            var choice = [Int](repeating: 0, count: count)
            repeat {
                let places = choice.map { lattice[$0] }
                for points in [2, 3] {
                    let options = ClusteringOptions(maximumZoom: 5, minimumPoints: points)
                    let reference = ReferenceClustering(places, options)
                    let index = try ClusterIndex.build(places, options)
                    for zoom in 0...6 { #expect(index.seen(at: zoom) == reference.seen(at: zoom)) }
                }
            } while Self.advance(&choice, base: lattice.count)
        }
    }

    /// Counts up; false after the last.
    private static func advance(_ digits: inout [Int], base: Int) -> Bool {
        for index in digits.indices {
            digits[index] += 1
            if digits[index] < base { return true }
            digits[index] = 0
        }
        return false
    }
}
