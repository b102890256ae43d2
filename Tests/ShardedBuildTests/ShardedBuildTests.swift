// SPDX-License-Identifier: MIT
import Foundation
import ImageStore
import JSON
import Responses
import SourceEngine
import SourceTestSupport
import Synchronization
import SystemSupport
import Testing

@testable import ShardedBuild

@Suite("Builds of images") struct ShardedBuildTests {
    static let optionSets = [
        #"{"clusterIds":"origin","sortKey":["hash",["id"]]}"#,
        #"{"clusterIds":"origin","sortKey":["get","name"],"maxZoom":9,"precision":"double"}"#,
        #"{"clusterIds":"origin","sortKey":["get","kind"],"partitionBy":["get","kind"],"weight":["+",1,["get","value"]]}"#,
        """
        {"clusterIds":"origin","sortKey":["hash",["id"]],"precision":"fixed","radius":70,"minZoom":2,"maxZoom":12,\
        "filter":[">",["get","value"],10],"promoteId":"name",\
        "clusterProperties":{"sum":["+",["get","value"]],"kinds":["count",["get","kind"]],"any":["any",["get","open"]]},\
        "indexedProperties":{"value":["get","value"]}}
        """,
        #"{"clusterIds":"origin","sortKey":["get","value"],"radius":["interpolate",["linear"],["zoom"],0,90,16,20]}"#,
    ]

    @Test("an image has the sections that an import's snapshot has", arguments: FeatureSet.allCases, optionSets)
    func equality(_ set: FeatureSet, _ options: String) throws {
        let folder = try BuildFolder()
        let inputs = [
            try folder.write(set.lines(700, seed: 1), to: "a.geojsonl"),
            try folder.write(set.lines(500, seed: 2), to: "b.geojsonl"),
        ]
        let kept = try KeptSources()
        let expected = try content(of: kept.importedImage(inputs, options: options))
        for shards in [1, 9] {
            var settings = try BuildSettings(folder, inputs, options: options)
            settings.shards = shards
            settings.overwrites = true
            let summary = try ShardedBuild(settings).run()
            #expect(summary.points > 0 && summary.clusters > 0)
            let found = try content(of: settings.output)
            #expect(found.description == expected.description, "\(shards) shards")
            for (name, bytes) in expected.sections {
                let isSame = found.sections[name] == bytes
                #expect(isSame, "section \(name), \(shards) shards")
            }
            #expect(found.sections.keys.sorted() == expected.sections.keys.sorted())
            #expect(!FileManager.default.fileExists(atPath: settings.temporary))
        }
    }

    @Test(
        "features lie along the curve of the index, unless their numbers in the input are ids",
        arguments: FeatureSet.allCases)
    func curve(_ set: FeatureSet) throws {
        let folder = try BuildFolder()
        let input = try folder.write(set.lines(3000), to: "a.geojsonl")
        for (member, isAlongCurve) in [("", true), (#","generateId":true"#, false)] {
            let options = #"{"clusterIds":"origin","sortKey":["hash",["id"]]\#(member)}"#
            var settings = try BuildSettings(folder, [input], options: options)
            settings.overwrites = true
            _ = try ShardedBuild(settings).run()
            let points = try pointsAlongCurve(of: settings.output)
            #expect(points.curve.count == 3000)
            #expect((points.curve == points.rows) == isAlongCurve)
            let reader = try SectionFileReader(settings.output, .whole)
            #expect(reader.has(SnapshotSection.inputRows) == isAlongCurve)
            let kept = try KeptSources()
            let expected = try content(of: kept.importedImage([input], options: options)).sections
            let isSame = try content(of: settings.output).sections == expected
            #expect(isSame, "\(options)")
        }
    }

    @Test(
        "what does not fit into a part is decided by a stream, in windows of the order", arguments: FeatureSet.allCases,
        [optionSets[0], optionSets[2], optionSets[4], #"{"clusterIds":"origin","sortKey":["get","place"]}"#])
    func stream(_ set: FeatureSet, _ options: String) throws {
        var build = try RepeatedBuild([("a.geojsonl", set.lines(3000))], options: options)
        #expect(build.summary.groups.allSatisfy { $0.open == 0 && $0.rounds == 0 })
        // Room for about forty nodes in a part, and for as many claimants in a window.
        build.settings.memory = 20_000
        let parted = try build.run("the memory")
        let (open, rounds) = (parted.groups.map(\.open).max() ?? 0, parted.groups.map(\.rounds).max() ?? 0)
        #expect(open > 0 && rounds > 0, "nothing was open: \(parted.groups)")
        if set == .onePlace { #expect(open == 3000 && rounds == 1, "\(open) nodes in \(rounds) rounds") }
        if set == .uniform, options.contains("place") { #expect(rounds > 1, "all claimants were in one window") }
    }

    @Test("the image is the same however the work is cut, and however often it was ended")
    func determinism() throws {
        var build = try RepeatedBuild(
            [("a.geojsonl", FeatureSet.gathered.lines(3000))], options: Self.optionSets[0])
        build.settings.shards = 16
        build.settings.workers = 2
        let all = EndedSteps(after: .max)
        let cut = try build.run("how the work is cut", with: all)
        #expect(all.count > 30, "\(all.count) steps")

        // Each attempt is ended after a few steps.
        var (attempts, steps, isDone) = (0, 0, false)
        while !isDone, attempts < 100 {
            build.settings.resumes = attempts > 0
            let some = EndedSteps(after: 7)
            if let resumed = try? build.run("how often the build was ended", with: some) {
                isDone = true
                for (group, other) in zip(resumed.groups, cut.groups) {
                    #expect(group.copies == other.copies && group.bytes == other.bytes, "\(group) is not \(other)")
                }
            }
            (attempts, steps) = (attempts + 1, steps + some.count)
        }
        #expect(attempts > 3 && steps < 2 * all.count, "\(steps) of \(all.count) steps in \(attempts) attempts")
    }

    @Test("the image is the same if an engine runs steps in another order, again, and twice at the same time")
    func engines() throws {
        var build = try RepeatedBuild(
            [("a.geojsonl", FeatureSet.gathered.lines(3000))], options: Self.optionSets[2])
        build.settings.shards = 16
        try build.run("who runs the steps", with: RepeatedSteps())
    }

    @Test("the image is the same however the inputs are divided among steps", arguments: [0, 1, 2, 3])
    func divisions(_ optionSet: Int) throws {
        let texts = [
            ("a.geojsonl", FeatureSet.gathered.lines(900, seed: 1)),
            ("b.geojsonl", FeatureSet.uniform.lines(10, seed: 2)),
            ("c.csv", FeatureSet.gathered.table(800, seed: 3)), ("d.csv", FeatureSet.gathered.table(5, seed: 4)),
            (
                "e.geojsonl",
                "\u{FEFF}" + FeatureSet.gathered.lines(700, seed: 5).replacing("\n", with: "\r\n")
            ),
            (
                "f.geojson",
                "[" + FeatureSet.lines.lines(100, seed: 6).split(separator: "\n").joined(separator: ",") + "]"
            ),
        ]
        var build = try RepeatedBuild(texts, options: Self.optionSets[optionSet])
        #expect(build.summary.points > 1000)
        for bytes in [3_000, 20_000] {
            build.settings.leastBytesOfStep = bytes
            let steps = EndedSteps(after: .max)
            try build.run("the division into steps of \(bytes) bytes", with: steps)
            #expect(steps.count > 250_000 / bytes, "\(steps.count) steps")
        }
    }

    @Test(
        "a build that was ended while it joined what it read goes on",
        arguments: ["text", "lengths", "identified", "records"])
    func endedJoining(_ damaged: String) throws {
        var build = try RepeatedBuild(
            [("a.geojsonl", FeatureSet.gathered.lines(1500))], options: Self.optionSets[1])
        build.settings.leastBytesOfStep = 20_000
        let path = build.settings.temporary + "/read-2." + damaged
        let content = Mutex(Data())
        let runner = WatchedSteps {
            guard let bytes = FileManager.default.contents(atPath: path) else { return }
            content.withLock { $0 = bytes }
            var other = bytes
            other[5] ^= 1
            _ = FileManager.default.createFile(atPath: path, contents: other)
        }
        let error = #expect(throws: BuildError.self) { _ = try ShardedBuild(build.settings, runner: runner).run() }
        #expect(error?.description.contains("read-2.\(damaged) is damaged") == true, "\(String(describing: error))")
        content.withLock { _ = FileManager.default.createFile(atPath: path, contents: $0) }
        build.settings.resumes = true
        let last = EndedSteps(after: .max)
        try build.run("where the build was ended", with: last)
        #expect(last.count < 10, "inputs were read again: \(last.count) steps")
    }

    @Test("parts of another cut are not taken for those of this one")
    func otherCut() throws {
        var build = try RepeatedBuild(
            [("a.geojsonl", FeatureSet.gathered.lines(3000))], options: Self.optionSets[0])
        for shards in [16, 9, 23] {
            build.settings.shards = shards
            let error = #expect(throws: BuildError.self) {
                _ = try ShardedBuild(build.settings, runner: EndedSteps(after: 5)).run()
            }
            #expect(error?.description == "ended")
            build.settings.resumes = true
        }
        try build.run("parts of other cuts")
    }

    @Test("a daemon attaches an image and answers as after an import, also if features share their ids")
    func attached() throws {
        let folder = try BuildFolder()
        let inputs = [
            try folder.write(FeatureSet.gathered.lines(2000), to: "a.geojsonl"),
            try folder.write(FeatureSet.gathered.lines(900, seed: 2), to: "b.geojsonl"),
        ]
        var settings = try BuildSettings(folder, inputs, options: Self.optionSets[3])
        settings.shards = 5
        _ = try ShardedBuild(settings).run()
        let (kept, attached) = (try KeptSources(), try KeptSources(isOnDemand: true))
        _ = try kept.importedImage(inputs, options: Self.optionSets[3])
        _ = try attached.create().attach(FileDescriptor(reading: settings.output), .never)
        #expect(attached.seen() == kept.seen())
        let reader = try SectionFileReader(settings.output, .whole)
        #expect(reader.has(SnapshotSection.clusterCodes))
    }

    @Test("what an image lists and finds is in the order of the input", arguments: FeatureSet.allCases, [0, 3])
    func listed(_ set: FeatureSet, _ optionSet: Int) throws {
        let folder = try BuildFolder()
        let inputs = [
            try folder.write(set.lines(2000), to: "a.geojsonl"),
            try folder.write(set.lines(900, seed: 2), to: "b.geojsonl"),
        ]
        let options = Self.optionSets[optionSet]
        let settings = try BuildSettings(folder, inputs, options: options)
        _ = try ShardedBuild(settings).run()
        let (kept, attached) = (try KeptSources(), try KeptSources(isOnDemand: true))
        _ = try kept.importedImage(inputs, options: options)
        _ = try attached.create().attach(FileDescriptor(reading: settings.output), .never)
        let (imported, built) = (try kept.source().revision, try attached.source().revision)
        #expect(imported.store.isInInputOrder && !built.store.isInInputOrder)
        for filter in [nil, #"["==",["get","kind"],"bar"]"#, #"[">",["get","value"],200]"#] {
            let (expected, found) = (try listed(imported, filter), try listed(built, filter))
            let isSame = expected == found
            #expect(isSame, "features that pass \(filter ?? "no filter")")
        }
        // Both files have these ids, or many features have the same name as their id.
        for id in ["0", "\"s4\"", "899", "1500", "\"n7\"", "\"a rather long name 3\""] {
            let identifier = try #require(FeatureIdentifier(json: Array(id.utf8)))
            let (expected, found) = (try texts(identifier, imported), try texts(identifier, built))
            #expect(found == expected, "features with the id \(id)")
        }
        // The index is made again if it is damaged.
        let remade = try IdentifierIndex(built.store, key: FeatureCodes.key, threads: 2, .never)
        let isSame = remade.entries.withValues { new in
            (try? built.identifierIndex(.never))?.entries.withValues { $0.elementsEqual(new) }
        }
        #expect(isSame == true, "the index by id differs when it is made again")
    }

    /// All features that pass a filter, page by page, and their clusters at a zoom.
    private func listed(_ revision: Revision, _ filter: String?) throws -> String {
        let filter = try filter.map { QueryFilter(try JSONReader.parse($0)) }
        var pages = try FeaturePages(revision, filter: filter, output: FeatureOutput(), .never)
        var text = ByteWriter()
        while !pages.isAtEnd { try pages.writePage(into: &text, .never) }
        let view = try revision.view(filter, zoom: nil, .never)
        try revision.writeClusters(ClustersQuery(box: .world, zoom: 5), of: view, into: &text, .never)
        text.append(raw: view.warnings.joined(separator: "\n"))
        return text.string.replacing(/"revision":\d+/, with: "")
    }

    /// Features with an id, and the one that is shown for it.
    private func texts(_ identifier: FeatureIdentifier, _ revision: Revision) throws -> [String] {
        let rows = try revision.identifierIndex(.never).rows(of: identifier, in: revision.store)
        let texts = rows.map { row in
            var text = ByteWriter()
            revision.store.write(row, into: &text)
            return text.string
        }
        guard !rows.isEmpty else { return [] }
        var shown = ByteWriter()
        try revision.writeLocation(of: identifier, at: 4, in: revision.view, into: &shown, .never)
        return texts + [shown.string.replacing(/"revision":\d+/, with: "")]
    }

    @Test(
        "options that cannot be built in parts are refused with the reason",
        arguments: [
            (#"{"sortKey":["id"]}"#, "clusterIds"), (#"{"clusterIds":"origin"}"#, "sortKey"),
            (#"{"clusterIds":"origin","sortKey":["id"],"minPoints":3}"#, "minPoints"),
            (#"{"clusterIds":"origin","sortKey":["id"],"ttlSeconds":3}"#, "ttlSeconds"),
            (#"{"clusterIds":"origin","sortKey":["id"],"views":{"a":{"radius":3}}}"#, "views"),
        ])
    func refusals(_ options: String, _ name: String) throws {
        let folder = try BuildFolder()
        let input = try folder.write(FeatureSet.uniform.lines(3), to: "a.geojsonl")
        let settings = try BuildSettings(folder, [input], options: options)
        let error = #expect(throws: BuildError.self) { _ = try ShardedBuild(settings).run() }
        #expect(error?.description.contains("options.\(name): ") == true && error?.isRefusal == true)
    }

    @Test("an invalid line is named, or left out and counted")
    func invalidLines() throws {
        let folder = try BuildFolder()
        let text = FeatureSet.uniform.lines(3) + "{\"type\":\"Feature\"}\n" + FeatureSet.uniform.lines(2)
        let input = try folder.write(text, to: "a.geojsonl")
        var settings = try BuildSettings(folder, [input], options: Self.optionSets[0])
        let error = #expect(throws: BuildError.self) { _ = try ShardedBuild(settings).run() }
        #expect(error?.description.hasPrefix("\(input):4: ") == true, "\(String(describing: error))")
        settings.policy = .skip
        let summary = try ShardedBuild(settings).run()
        #expect(summary.points == 5 && summary.skippedReasons.values.reduce(0, +) == 1)
    }

    @Test(
        "an invalid line or row in a later range is named as by one reader",
        arguments: [
            ("a.geojsonl", #"{"type":"Feature","id":7}"#), ("a.geojsonl", "{"), ("a.csv", "7,200,95"),
            ("a.csv", "7,200,5,n,1,bar,true"), ("a.csv", "7,20,5,n,-1,bar,true"), ("a.csv", "7,20,5,n,,bar,true"),
            (
                "a.geojsonl",
                #"{"type":"Feature","id":7,"geometry":{"type":"Point","coordinates":[2,3]},"properties":{"value":-1}}"#
            ),
        ])
    func invalidLaterLines(_ name: String, _ invalid: String) throws {
        let folder = try BuildFolder()
        let isTable = name.hasSuffix("csv")
        var lines = (isTable ? FeatureSet.uniform.table(900) : FeatureSet.uniform.lines(900)).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map(String.init)
        // A cell may have several lines; those that begin with a digit begin a row.
        let place = try #require(
            lines.indices.dropFirst(lines.count - 60).first { isTable ? lines[$0].first?.isNumber == true : true })
        lines.insert(invalid, at: place)
        // A weight of 1 and the value, which must be above 0.
        var settings = try BuildSettings(
            folder, [try folder.write(lines.joined(separator: "\n"), to: name)], options: Self.optionSets[2])
        let expected = #expect(throws: BuildError.self) { _ = try ShardedBuild(settings).run() }
        settings.leastBytesOfStep = 4_000
        let error = #expect(throws: BuildError.self) { _ = try ShardedBuild(settings).run() }
        #expect(error == expected && error?.isRefusal == true)
        #expect(error?.description.contains("\(name):\(place + 1):") == true, "\(String(describing: error))")
        settings.policy = .skip
        let summary = try ShardedBuild(settings).run()
        #expect(summary.accepted == 900 && summary.skippedReasons.values.reduce(0, +) == 1)
    }

    @Test("an existing image is replaced only on request, and other inputs are not resumed")
    func otherBuilds() throws {
        let folder = try BuildFolder()
        let input = try folder.write(FeatureSet.uniform.lines(300), to: "a.geojsonl")
        var settings = try BuildSettings(folder, [input], options: Self.optionSets[0])
        #expect(throws: BuildError.self) { _ = try ShardedBuild(settings, runner: EndedSteps(after: 0)).run() }
        var other = try BuildSettings(folder, [input, input], options: Self.optionSets[0])
        other.resumes = true
        #expect(throws: BuildError.self) { _ = try ShardedBuild(other).run() }
        settings.resumes = true
        _ = try ShardedBuild(settings).run()
        #expect(throws: BuildError.self) { _ = try ShardedBuild(settings).run() }
    }
}

/// Runs steps here, but only some; the others fail as if the build had been ended.
final class EndedSteps: StepRunner {
    private let left: Mutex<Int>
    private let done = Mutex(0)

    init(after most: Int) { left = Mutex(most) }

    /// The number of steps that ran.
    var count: Int { done.withLock { $0 } }

    func run(_ steps: [any BuildStep]) throws(BuildError) {
        for step in steps {
            let mayRun = left.withLock { left in
                left -= left > 0 ? 1 : 0
                return left > 0
            }
            guard mayRun else { throw BuildError("ended") }
            try step.run()
            done.withLock { $0 += 1 }
        }
    }
}

/// Runs steps here, and calls a function after those of the first list.
private final class WatchedSteps: StepRunner {
    private let after: Mutex<(@Sendable () -> Void)?>

    init(_ after: @escaping @Sendable () -> Void) { self.after = Mutex(after) }

    func run(_ steps: [any BuildStep]) throws(BuildError) {
        for step in steps { try step.run() }
        let call = after.withLock { after in
            defer { after = nil }
            return after
        }
        call?()
    }
}

/// Runs steps as an engine may that tries again whatever it has doubts about: from their JSON, the last first, each twice at
/// the same time, and once more when it is complete.
private struct RepeatedSteps: StepRunner {
    func run(_ steps: [any BuildStep]) throws(BuildError) {
        let failure = Mutex<BuildError?>(nil)
        for step in steps.reversed() {
            guard let text = try? JSONReader.parse(step.json.text),
                let read = StepReading.step(text, opening: { path, _ in BuildInput(file: path) })
            else {
                throw BuildError("\(step.json.text) is not read as a step")
            }
            for attempts in [2, 1] {
                DispatchQueue.concurrentPerform(iterations: attempts) { _ in
                    do throws(BuildError) { try read.run() } catch { failure.withLock { $0 = error } }
                }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
