// SPDX-License-Identifier: MIT
import Clustering
import Dispatch
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("Printed texts") struct PrintedTextsTests {
    private let bytes = Array("{\"some\":\"text\"}".utf8)

    private func keep(_ text: [UInt8], _ node: Node, in texts: PrintedTexts) -> Bool {
        text.withUnsafeBytes { texts.keep($0, of: node) }
    }

    private func text(_ node: Node, in texts: PrintedTexts) -> String? {
        let place = texts.find(node)
        guard !place.isEmpty else { return nil }
        var writer = ByteWriter()
        texts.write(place, into: &writer)
        #expect(writer.bytes.first == UInt8(ascii: ","))
        return String(writer.string.dropFirst())
    }

    private func cluster(_ number: UInt32) -> Node { .cluster(ClusterOrdinal(rawValue: number)) }
    private func point(_ number: UInt32) -> Node { .point(PointIndex(rawValue: number)) }

    @Test("a cached text is found by its node only") func whatIsKeptIsFoundByItsNodeAlone() {
        let texts = PrintedTexts(capacity: 1 << 16, areJSON: true)
        #expect(text(point(0), in: texts) == nil)
        #expect(keep(bytes, cluster(0), in: texts))
        #expect(text(cluster(0), in: texts) == "{\"some\":\"text\"}")
        #expect(text(point(0), in: texts) == nil)
        #expect(text(cluster(1 << 16), in: texts) == nil)
        #expect(text(cluster(.max), in: texts) == nil)
    }

    @Test("of three nodes that share two entries, the last one is found")
    func ofThreeNodesThatShareTwoEntriesTheLastIsFound() {
        let texts = PrintedTexts(capacity: 1 << 16, areJSON: true)
        #expect(keep(bytes, cluster(7), in: texts))
        #expect(keep([65], point(7), in: texts))
        #expect(text(cluster(7), in: texts) == "{\"some\":\"text\"}")
        #expect(text(point(7), in: texts) == "A")
        #expect(keep([66], point(7 + 1 << 20), in: texts))
        #expect(text(point(7 + 1 << 20), in: texts) == "B")
        #expect([text(cluster(7), in: texts), text(point(7), in: texts)].count { $0 != nil } == 1)
    }

    @Test("without room, nothing is cached") func whereThereIsNoRoomNothingIsKept() {
        let texts = PrintedTexts(capacity: 1 << 14, areJSON: true)
        var kept: UInt32 = 0
        while kept < 2000, keep(bytes, cluster(kept), in: texts) { kept += 1 }
        // 15 bytes and a comma.
        #expect(kept == 1024)
        #expect(text(cluster(kept), in: texts) == nil)
        #expect(!keep(bytes, cluster(kept), in: texts))
    }

    @Test("long texts are not cached") func longTextsAreLeftOut() {
        for (capacity, longest) in [(1 << 14, 1023), (1 << 20, 4094)] {
            let texts = PrintedTexts(capacity: capacity, areJSON: true)
            #expect(keep([UInt8](repeating: 65, count: longest + 1), point(1), in: texts))
            #expect(text(point(1), in: texts) == nil)
            #expect(keep([UInt8](repeating: 65, count: longest), point(1), in: texts))
            #expect(text(point(1), in: texts)?.utf8.count == longest)
        }
    }

    @Test("large node numbers and the last entries are found") func largeNumbersAndTheLastPlacesAreTold() {
        let texts = PrintedTexts(capacity: 1 << 24, areJSON: true)
        let long = [UInt8](repeating: 65, count: 4094)
        var number = UInt32.max
        while keep(long, point(number), in: texts) { number -= 1 }
        #expect(UInt32.max - number == (1 << 24) / 4095)
        #expect(text(point(.max), in: texts)?.utf8.count == 4094)
        #expect(text(point(number + 1), in: texts)?.utf8.count == 4094)
        #expect(text(cluster(.max), in: texts) == nil)
    }

    /// Threads insert and find texts of the same nodes; each text names its node.
    @Test("threads never see partly written texts") func threadsSeeWholeTextsOnly() {
        let texts = PrintedTexts(capacity: 1 << 16, areJSON: true)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for step in 0..<4000 {
                let number = UInt32((step * 7 + thread) % 3000)
                if let found = text(point(number), in: texts) {
                    #expect(found == String(repeating: "\(number) ", count: 8))
                } else {
                    _ = keep(Array(String(repeating: "\(number) ", count: 8).utf8), point(number), in: texts)
                }
            }
        }
    }
}

@Suite("Printed features") struct PrintedFeaturesTests {
    private static let options =
        #"{"radius":20,"clusterProperties":{"sum":["+",["get","v"]]}}"#

    private func source(points: Int) throws -> TestSource {
        let test = try TestSource(options: Self.options)
        var random = SeededRandom(seed: 5)
        let features = (0..<points).map { id in
            let place = (Double.random(in: -180...180, using: &random), Double.random(in: -80...80, using: &random))
            return point(id, place.0, place.1, #"{"v":\#(id % 9)}"#)
        }
        try test.load("[" + features.joined(separator: ",") + "]")
        return test
    }

    /// The answer without anything kept before or after.
    private func printed(_ query: ClustersQuery, _ test: TestSource) throws -> String {
        try test.answer(zoom: query.zoom) { revision, view, bytes in
            var nodes: [Node] = []
            let box = query.box
            let isTruncated = view.index.nodes(
                west: box.west, south: box.south, east: box.east, north: box.north,
                at: view.index.level(for: query.zoom), limit: query.limit ?? .max, into: &nodes)
            let writer = FeatureWriter(revision: revision, view: view, output: query.output, cancellation: .never)
            var collection = CollectionWriter(into: &bytes)
            try writer.write(nodes, to: &collection, into: &bytes)
            collection.endFeatures(&bytes)
            bytes.append(raw: ",\"truncated\":\(isTruncated),\"revision\":\(revision.number)}")
        }.text
    }

    private func compare(_ test: TestSource, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            let (west, south) = (
                Double.random(in: -200...170, using: &random), Double.random(in: -80...60, using: &random)
            )
            let query = ClustersQuery(
                box: Box(west: west, south: south, east: west + 90, north: south + 60),
                zoom: Double(Int.random(in: 0...8, using: &random)), limit: Int.random(in: 0...400, using: &random))
            #expect(try test.clusters(query).text == printed(query, test))
        }
    }

    @Test("answers are the same with and without cached features")
    func answersAreTheSameWhetherTheirFeaturesWerePrintedBeforeOrNot() throws {
        let test = try source(points: 20_000)
        try compare(test, seed: 1)
        #expect(ViewAnswerCache.of(test.source.revision.view).features.memoryBytes > 0)
        _ = try test.update(
            upsert: list(point(17, 3, 4, #"{"v":1000}"#), point(18, 3.001, 4, #"{"v":10000}"#)))
        try compare(test, seed: 1)
    }

    @Test("cached features of messages are those that were printed, and are another form than JSON") func messages()
        throws
    {
        let test = try source(points: 20_000)
        var query = ClustersQuery(box: .world, zoom: 2, limit: 400)
        let json = try test.clusters(query).text
        func message(_ output: FeatureOutput) throws -> [UInt8] {
            query.output = output
            let revision = test.source.revision
            var bytes = ByteWriter()
            try revision.writeClusters(query, of: revision.view(nil, zoom: query.zoom, .never), into: &bytes, .never)
            return bytes.bytes
        }
        var output = FeatureOutput()
        output.form = .protobuf(structProperties: false)
        let first = try message(output)
        #expect(ViewAnswerCache.of(test.source.revision.view).messages.memoryBytes > 0)
        #expect(try message(output) == first)
        query.output = FeatureOutput()
        #expect(try test.clusters(query).text == json)
    }

    @Test("caching pauses if it has not paid off, and resumes later")
    func keepingRestsWhereItHasNotPaidAndGoesOnAfterwards() throws {
        let test = try source(points: 20_000)
        let printed = ViewAnswerCache.of(test.source.revision.view).features
        var (rests, isResting) = (0, false)
        // All there is, piece by piece, so that nothing is asked for again until all was there.
        for turn in 0..<40 {
            for row in 0..<16 {
                let (west, south) = (Double(turn % 8) * 45 - 180, Double(row) * 10 - 80)
                let query = ClustersQuery(
                    box: Box(west: west, south: south, east: west + 44.9, north: south + 9.9), zoom: 20, limit: 500)
                #expect(try test.clusters(query).text == self.printed(query, test))
                if printed.isResting != isResting {
                    isResting.toggle()
                    rests += isResting ? 1 : 0
                }
            }
        }
        #expect(rests > 1)
    }

    @Test("caching continues while it pays off") func keepingGoesOnWhereItPays() throws {
        let test = try source(points: 20_000)
        for _ in 0..<3 {
            for column in 0..<8 {
                for _ in 0..<10 {
                    let west = Double(column) * 45 - 180
                    _ = try test.clusters(
                        ClustersQuery(box: Box(west: west, south: 0, east: west + 44, north: 20), zoom: 20))
                }
                #expect(!ViewAnswerCache.of(test.source.revision.view).features.isResting)
            }
        }
    }

    @Test("features outside the answer are not cached") func whatAnAnswerLeavesOutIsNotKept() throws {
        let test = try source(points: 20_000)
        var query = ClustersQuery(box: .world, zoom: 1, limit: 300)
        let whole = try test.clusters(query).text
        query.output = FeatureOutput(properties: PropertySelection([]), precision: 2)
        let part = try test.clusters(query).text
        #expect(part.utf8.count < whole.utf8.count)
        query.output = FeatureOutput()
        #expect(try test.clusters(query).text == whole)
    }

    @Test("the cache's memory is bounded by the index's, and small sources have no cache")
    func memoryIsBoundedByTheIndexAndFewPointsKeepNone() throws {
        let large = PrintedFeatures(indexBytes: 1 << 30, areJSON: true)
        #expect(large.limit == 16 << 20)
        #expect(PrintedFeatures(indexBytes: 10 << 20, areJSON: true).limit <= 5 << 20)
        #expect(PrintedFeatures(indexBytes: 1 << 10, areJSON: true).limit == 0)
        let few = try source(points: 100)
        _ = try few.world(3)
        #expect(ViewAnswerCache.of(few.source.revision.view).features.memoryBytes == 0)
    }
}
