// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

private func id(_ number: Int) throws -> FeatureIdentifier {
    try #require(FeatureIdentifier(.number(Double(number))))
}

@Suite("Update") struct UpdateTests {
    @Test("an updated feature keeps its position, a new one comes last, a removed one is gone")
    func anUpdatedFeatureKeepsItsPlaceANewOneGoesLastARemovedOneLeaves() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0), point(2, 0, 0), point(3, 0, 0)))
        let outcome = try test.update(upsert: list(point(2, 10, 0), point(9, 0, 0)), remove: [id(1), id(7)])
        #expect(outcome.inserted == 1)
        #expect(outcome.updated == 1)
        #expect(outcome.removed == 1)
        #expect(outcome.missing == 1)
        let fresh = try TestSource()
        try fresh.load(list(point(2, 10, 0), point(3, 0, 0), point(9, 0, 0)))
        #expect(try features(test) == features(fresh))
    }

    private func features(_ test: TestSource, _ zoom: Double = 0) throws -> String {
        let text = try test.world(zoom).text
        return String(text.prefix(upTo: text.range(of: ",\"revision\":")?.lowerBound ?? text.endIndex))
    }

    @Test("the last of equal ids counts") func theLastOfEqualIdsCounts() throws {
        let test = try TestSource()
        let outcome = try test.update(upsert: list(point(1, 0, 0), point(1, 5, 5)))
        #expect(outcome.inserted == 1)
        #expect(test.source.revision.bounds == Box(west: 5, south: 5, east: 5, north: 5))
    }

    @Test("numbers and strings are different ids") func numbersAndStringsAreDifferentIds() throws {
        let test = try TestSource()
        try test.load(
            list(
                point(1, 0, 0),
                #"{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[3,3]},"properties":null}"#
            ))
        let outcome = try test.update(remove: [#require(FeatureIdentifier(.string("1")))])
        #expect(outcome.removed == 1)
        #expect(test.source.revision.bounds == Box(west: 0, south: 0, east: 0, north: 0))
    }

    @Test("is all or nothing") func isAllOrNothing() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0)))
        let before = test.source.revision.number
        for bad in [list(point(2, 0, 0), point(3, 0, 95)), list(point(2, 0, 0), point(nil, 0, 0))] {
            let error = try #require(throws: SourceError.self) { try test.update(upsert: bad) }
            guard case .badFeature(index: 1, _, _, _) = error else {
                Issue.record("\(error)")
                continue
            }
        }
        #expect(throws: SourceError.self) { try test.update(upsert: list(point(1, 1, 1)), remove: [id(1)]) }
        #expect(test.source.revision.number == before)
    }

    @Test("a feature that no longer passes the filter is removed")
    func aFeatureThatTheSourceDoesNotLoadLeavesItsPlace() throws {
        let test = try TestSource(options: #"{"filter":["==",["get","on"],true]}"#)
        try test.load(list(point(1, 0, 0, #"{"on":true}"#), point(2, 0, 0, #"{"on":true}"#)))
        let outcome = try test.update(upsert: list(point(1, 0, 0, #"{"on":false}"#), point(3, 0, 0)))
        #expect(outcome.removed == 1)
        #expect(outcome.inserted == 0)
        #expect(test.source.revision.pointCount == 1)
    }

    @Test("options may change") func optionsMayChange() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0), point(2, 1, 0)))
        #expect(try test.world(4).pointCounts == [2])
        let before = test.source.revision.number
        let options = try SourceOptions(reading: JSONReader.parse(#"{"radius":1}"#))
        let description = try test.source.update(options: options, .never)
        #expect(description.description.revision.number > before)
        #expect(try test.world(4).pointCounts == [])
    }
}
