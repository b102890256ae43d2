// SPDX-License-Identifier: MIT
import CAllocationCounter
import ClusterProtocol
import GeoJSON
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import RPC
@testable import SourceEngine

/// How many blocks of memory the hot paths allocate. A count is the same on a busy machine, and it shows what a clock
/// shows too late. The ceilings are for debug builds, which allocate more than release builds; an increase beyond one
/// is either a mistake or is put here on purpose.
@Suite(
    "Allocations", .enabled(if: Allocations.areCounted, "a sanitizer has an allocator of its own, which nobody counts"))
struct AllocationTests {
    private let loop = HandLoop()
    private let parser = JSONParser()
    private let answers = KeptAnswers()
    private let test: TestSource
    private let caller: Caller

    init() throws {
        test = try TestSource(options: #"{"clusterProperties":{"sum":["+",["get","n"]]}}"#)
        try test.load(towns(4000))
        caller = try Caller(on: test, loop: loop, answers: answers)
    }

    /// Answers a call as a connection does, from its text to the answer's bytes.
    private func call(_ text: String, into bytes: inout ByteWriter) throws {
        var text = text
        let message = try text.withUTF8 { bytes in
            Result { () throws(EnvelopeError) in try ClientMessage.read(bytes.span, parser: parser) }
        }.get()
        guard case .open(let request) = message else {
            Issue.record("\(text) opens no call")
            return
        }
        if try caller.open(request, by: caller.identity, as: BareEncoder(), into: &bytes) != nil { loop.step() }
    }

    private static func getClusters(_ box: String, zoom: Int) -> String {
        #"{"id":1,"method":"clusterd.v1.ClusterService/GetClusters","params":{"source":"test","bbox":\#(box),"zoom":\#(zoom)}}"#
    }

    @Test("a short GetClusters", arguments: [30.0]) func short(ceiling: Double) throws {
        var bytes = ByteWriter(capacity: 1 << 20)
        let text = Self.getClusters("[10,10,40,30]", zoom: 2)
        let count = try Allocations.fewest { try call(text, into: &bytes) }
        #expect(bytes.string.contains("\"point_count\":"))
        #expect(count <= ceiling, "\(count) allocations")
    }

    @Test("a long GetClusters, for each of its features", arguments: [10.0]) func long(ceiling: Double) throws {
        var bytes = ByteWriter()
        let text = Self.getClusters("[-180,-90,180,90]", zoom: 20)
        let count = try Allocations.fewest { try call(text, into: &bytes) }
        let answer = try Answer(answers.answers.last ?? bytes.string)
        #expect(answer.features.count >= 4000)
        let each = count / Double(max(1, answer.features.count))
        #expect(each <= ceiling, "\(each) allocations for each feature")
    }

    @Test("an object of many members, for each of them", arguments: [0.01]) func members(ceiling: Double) throws {
        let text = "{\((0..<20_000).map { "\"\($0)\":0" }.joined(separator: ","))}"
        let count = try Allocations.fewest(of: 3) { _ = try JSONReader.parse(text) }
        #expect(count / 20_000 <= ceiling, "\(count) allocations")
    }

    // A step over an array allocates in a debug build: a build of the index goes over each level's claimants by arrays.
    @Test("an import, for each of its features", arguments: [9.5]) func imported(ceiling: Double) throws {
        let (few, many) = (towns(2000), towns(6000))
        func load(_ text: String) throws -> Double {
            try Allocations.fewest(of: 2) { try test.load(text) }
        }
        let each = (try load(many) - load(few)) / 4000
        #expect(each <= ceiling, "\(each) allocations for each feature")
    }

    @Test("an update of one feature", arguments: [2200.0]) func update(ceiling: Double) throws {
        var id = 4000
        let count = try Allocations.fewest {
            id += 1
            _ = try test.update(upsert: towns(1, from: id))
        }
        #expect(count <= ceiling, "\(count) allocations")
    }
}

enum Allocations {
    /// False under a sanitizer.
    static var areCounted: Bool {
        let before = allocations_of_this_thread()
        let block = UnsafeMutableRawPointer.allocate(byteCount: 1000, alignment: 8)
        defer { block.deallocate() }
        return allocations_of_this_thread() > before
    }

    /// The fewest allocations of the calling thread in several runs: the first ones fill caches.
    static func fewest(of runs: Int = 8, _ body: () throws -> Void) rethrows -> Double {
        var fewest = UInt.max
        for _ in 0..<runs {
            let before = allocations_of_this_thread()
            try body()
            fewest = min(fewest, allocations_of_this_thread() - before)
        }
        return Double(fewest)
    }
}
