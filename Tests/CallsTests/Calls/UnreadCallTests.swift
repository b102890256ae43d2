// SPDX-License-Identifier: MIT
import ClusterProtocol
import Dispatch
import JSON
import SourceTestSupport
import Testing

@testable import Calls
@testable import Sources

/// Calls on a source whose disk does not answer after a start.
@Suite("Calls while nothing of a source has been read") struct UnreadCallTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let kept: KeptSources
    private let caller: Caller
    private let disk = DispatchSemaphore(value: 0)

    init() throws {
        kept = try KeptSources(overviewPoints: 100)
        for name in ["test", "other"] { try kept.create(name).load(towns(name == "test" ? 300 : 50)) }
        kept.beforeReading = { [disk] name in if name.text == "test" { disk.wait() } }
        kept.holdsReading = true
        try kept.restart()
        kept.recovery?.serve()
        caller = try Caller(on: kept.registry, loop: loop, answers: answers)
    }

    private static let world: JSONObject = ["bbox": [-180, -90, 180, 90], "zoom": 2]

    private func open(_ method: String, _ params: JSONObject = [:], id: Int64 = 1, timeout: Int64? = nil) {
        caller.open(method, params, id: id, timeout: timeout, answers: answers)
        loop.step()
    }

    /// Lets the disk answer until the overview has been read.
    private func readOverview() throws {
        disk.signal()
        kept.recovery?.wait()
        loop.step()
        #expect(try kept.source().overview != nil)
    }

    private func readRest() {
        disk.signal()
        kept.readRest()
        loop.step()
    }

    @Test("its description is given at once, and its name is taken")
    func atOnce() throws {
        open("SourceService/GetSource")
        #expect(answers.answers.last?.contains(#""state":"loading""#) == true)
        open("SourceService/CreateSource")
        #expect(answers.errors.map(\.code) == [.alreadyExists])
        try readOverview()
        readRest()
    }

    @Test("a low zoom waits for the overview, and what needs more waits for the rest")
    func waits() throws {
        open("ClusterService/GetClusters", Self.world, id: 1)
        open("SourceService/UpdateFeatures", ["remove": [1]], id: 2)
        open("ClusterService/WatchClusters", Self.world, id: 3)
        #expect(answers.answers.isEmpty && answers.items.isEmpty && caller.openCalls == 3)
        try readOverview()
        #expect(answers.answers.count == 1 && answers.items.isEmpty && caller.openCalls == 2)
        readRest()
        #expect(answers.answers.count == 2 && !answers.items.isEmpty && answers.errors.isEmpty)
        #expect(try kept.source().revision.pointCount == 299)
        caller.receiveCancel(for: 3)
    }

    @Test("waiting ends with the deadline, and when the daemon ends")
    func ends() throws {
        open("ClusterService/GetClusters", Self.world, id: 1, timeout: 0)
        for timer in loop.timers { timer() }
        #expect(answers.errors.map(\.code) == [.deadlineExceeded])
        open("SourceService/DeleteSource", id: 2)
        caller.drain()
        #expect(answers.errors.map(\.code) == [.deadlineExceeded, .unavailable])
        try readOverview()
        readRest()
        #expect(try kept.source().revision.pointCount == 300)
    }
}
