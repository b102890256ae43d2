// SPDX-License-Identifier: MIT
import Dispatch
import GeoJSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Responses
@testable import SourceEngine
@testable import SystemSupport

@Suite("Feature import") struct FeatureImportTests {
    @Test("a source without data answers as without points") func aSourceWithoutDataAnswersAsWithoutPoints() throws {
        let test = try TestSource()
        let answer = try test.world(0)
        #expect(answer.features.isEmpty)
        #expect(answer.revision == 0)
        #expect(test.source.description.state == .empty)
        #expect(answer.text == #"{"type":"FeatureCollection","features":[],"revision":0}"#)
    }

    @Test("replaces") func replaces() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0), point(2, 90, 0)))
        let first = test.source.revision.number
        let outcome = try test.load(list(point(3, 10, 10)))
        #expect(outcome.accepted == 1)
        #expect(outcome.description.state == .ready)
        #expect(test.source.revision.number > first)
        #expect(try test.world(16).features.compactMap { $0["id"] as? Int } == [3])
    }

    @Test("pieces that several threads read are admitted in their order, whichever is read first")
    func pieces() throws {
        let texts = (0..<200).map { point($0, Double($0 % 90), 1, #"{"n":\#($0)}"#) }
        let (whole, pieced) = (try TestSource(), try TestSource())
        try whole.load("[" + texts.joined(separator: ",") + "]")
        let load = FeatureImport(into: pieced.source, mode: .replace, policy: .skip)
        let order = (0..<20).shuffled()
        DispatchQueue.concurrentPerform(iterations: 20) { index in
            let number = order[index]
            let taken: Int? = try? load.take(piece: number) { piece in
                for text in texts[10 * number..<10 * number + 10] {
                    Array(text.utf8).withUnsafeBytes { piece.append($0, parts: nil) }
                }
                return number
            }
            #expect(taken == number)
        }
        #expect(load.takenPieces == 20)
        #expect(try load.finish(.never).accepted == 200)
        for zoom in [0.0, 5, 16] {
            #expect(try pieced.world(zoom).features.count == whole.world(zoom).features.count)
        }
        #expect(
            try pieced.world(17).features.compactMap { $0["id"] as? Int }
                == whole.world(17).features.compactMap { $0["id"] as? Int })
    }

    @Test("counts skipped features, even if all are, unless it would replace points with nothing")
    func countsWhenNothingIsValid() throws {
        let test = try TestSource()
        let invalid = #"[{"type":"Feature"},5]"#
        #expect(try test.load(invalid, policy: .skip).skipped == 2)
        // The source now has a revision, but no points that could be lost.
        let again = try test.load(invalid, policy: .skip)
        #expect(again.skipped == 2)
        #expect(again.accepted == 0)
        try test.load(list(point(1, 0, 0)))
        let number = test.source.revision.number
        #expect(throws: SourceError.self) { try test.load(invalid, policy: .skip) }
        #expect(test.source.revision.number == number)
        #expect(test.source.revision.pointCount == 1)
    }

    @Test("appends in order") func appendsInOrder() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0)))
        try test.load(list(point(2, 1, 0)), list(point(3, 2, 0)), mode: .append)
        #expect(test.source.revision.pointCount == 3)
        #expect(Set(try test.world(16).features.compactMap { $0["id"] as? Int }) == [1, 2, 3])
    }

    @Test("appending equals loading everything again") func appendingIsLoadingAllAnew() throws {
        let points = list(GoldenDataset.points(kind: "d", count: 400, seed: 9))
        let more = list(GoldenDataset.points(kind: "c", count: 400, seed: 10))
        let (whole, grown) = (try TestSource(), try TestSource())
        try whole.load(points, more)
        try grown.load(points)
        try grown.load(more, mode: .append)
        for zoom in [0.0, 4, 9, 16] {
            #expect(try Set(whole.world(zoom).clusterIds) == Set(grown.world(zoom).clusterIds))
        }
    }

    @Test("an append sees an import that finished meanwhile") func anAppendSeesAnImportThatFinishedMeanwhile() throws {
        let test = try TestSource()
        let (slow, fast) = (
            FeatureImport(into: test.source, mode: .append, policy: .reject),
            FeatureImport(into: test.source, mode: .append, policy: .reject)
        )
        try slow.add(list(point(1, 0, 0)))
        try fast.add(list(point(2, 1, 0)))
        _ = try fast.finish(.never)
        _ = try slow.finish(.never)
        #expect(test.source.revision.pointCount == 2)
    }

    @Test("an invalid feature leaves the source unchanged") func aBadFeatureLeavesTheSourceUntouched() throws {
        let test = try TestSource()
        try test.load(list(point(1, 0, 0)))
        let before = test.source.revision.number
        let load = FeatureImport(into: test.source, mode: .replace, policy: .reject)
        try load.add(list(point(2, 0, 0)))
        let error = try #require(throws: SourceError.self) { try load.add(list(point(3, 0, 0), point(4, 181, 0))) }
        guard case .badFeature(index: 2, _, _, _) = error else {
            Issue.record("\(error)")
            return
        }
        load.cancel()
        #expect(throws: SourceError.cancelled) { try load.finish(.never) }
        #expect(test.source.revision.number == before)
        #expect(try test.world(16).features.compactMap { $0["id"] as? Int } == [1])
    }

    @Test("bad features may be skipped and are counted") func badFeaturesMayBeSkippedAndAreCounted() throws {
        let test = try TestSource()
        let outcome = try test.load(
            list(point(1, 0, 0), point(2, 0, 91), "{}", point(3, 0, 1), point(4, 0, -91)), policy: .skip)
        #expect(outcome.accepted == 2)
        #expect(outcome.skipped == 3)
        #expect(outcome.skippedReasons.values.sorted() == [1, 2])
        #expect(test.source.revision.pointCount == 2)
    }

    @Test("a cancelled import leaves the source untouched") func aCancelledImportLeavesTheSourceUntouched() throws {
        let test = try TestSource()
        let load = FeatureImport(into: test.source, mode: .replace, policy: .reject)
        try load.add(list(point(1, 0, 0)))
        #expect(throws: SourceError.cancelled) { try load.finish(Cancellation { true }) }
        #expect(!test.source.revision.hasData)
        #expect(test.source.description.state == .empty)
    }

    @Test("an import into a deleted source fails") func nothingEntersADeletedSource() throws {
        let test = try TestSource()
        let load = FeatureImport(into: test.source, mode: .replace, policy: .reject)
        try load.add(list(point(1, 0, 0)))
        try test.registry.delete(test.source.name)
        #expect(throws: SourceError.sourceNotFound(test.source.name)) { try load.finish(.never) }
    }

    @Test("an empty import counts as data") func noFeaturesAreDataToo() throws {
        let test = try TestSource()
        try test.load("[]")
        #expect(test.source.description.state == .ready)
        #expect(test.source.revision.number > 0)
        #expect(test.source.revision.bounds == nil)
    }

    @Test("a source's filter applies to what is loaded") func theFilterOfASourceIsOfWhatIsLoaded() throws {
        let test = try TestSource(options: #"{"filter":["==",["get","kind"],"cafe"]}"#)
        let outcome = try test.load(
            list(point(1, 0, 0, #"{"kind":"cafe"}"#), point(2, 0, 0, #"{"kind":"bar"}"#), point(3, 0, 0)))
        #expect(outcome.accepted == 3)
        #expect(test.source.revision.pointCount == 1)
        #expect(test.source.revision.store.count == 1)
    }

    @Test("a weight that is no positive number makes a feature bad")
    func aWeightThatIsNoPositiveNumberMakesAFeatureBad() throws {
        let test = try TestSource(options: #"{"weight":["get","w"]}"#)
        let features = list(
            point(1, 0, 0, #"{"w":1}"#), point(2, 0, 0, #"{"w":0}"#), point(3, 0, 0, #"{"w":"2"}"#),
            point(4, 0, 0),
            point(5, 0.0001, 0, #"{"w":3}"#))
        let error = try #require(throws: SourceError.self) { try test.load(features) }
        guard case .badFeature(index: 1, FeatureBatch.badWeight, _, _) = error else {
            Issue.record("\(error)")
            return
        }
        let outcome = try test.load(features, policy: .skip)
        #expect(outcome.accepted == 2)
        #expect(outcome.skippedReasons == [FeatureBatch.badWeight: 3])
        let cluster = try test.world(0).properties(0)
        #expect(cluster["point_weight"] as? Double == 4)
    }

    @Test(
        "weights of any size that can be summed are clustered, others make features bad",
        arguments: ["float", "fixed", "double"])
    func extremeWeights(_ precision: String) throws {
        let test = try TestSource(options: #"{"weight":["get","w"],"precision":"\#(precision)"}"#)
        let weights = ["1e100", "1e100", "1e-100", "1e-100", "1", "1e40"]
        let good = weights.enumerated().map { point($0 + 1, Double($0 % 3), 0, #"{"w":\#($1)}"#) }
        let bad = ["1e101", "1e308", "1e-101", "5e-324"].enumerated().map {
            point($0 + 100, 1, 0, #"{"w":\#($1)}"#)
        }
        let outcome = try test.load("[" + (good + bad).joined(separator: ",") + "]", policy: .skip)
        #expect(outcome.accepted == 6)
        #expect(outcome.skippedReasons == [FeatureBatch.badWeight: 4])
        #expect(try !test.world(0).features.isEmpty)
        for features in [[good[0], bad[0]], [bad[1]]] {
            #expect(throws: SourceError.self) { try test.update(upsert: "[" + features.joined(separator: ",") + "]") }
        }
    }
}
