// SPDX-License-Identifier: MIT
import ClusterProtocol
import Dispatch
import JSON
import SourceTestSupport
import Testing

@testable import RPC
@testable import SourceEngine

/// Calls on a source whose disk does not answer after a start.
@Suite("Calls before a source has been opened") struct UnreadCallTests {
    private let loop = HandLoop()
    private let answers = KeptAnswers()
    private let kept: KeptSources
    private let caller: Caller
    private let disk = DispatchSemaphore(value: 0)

    init() throws {
        kept = try KeptSources(isQuick: true, isOnDemand: true)
        for name in ["test", "other"] { try kept.create(name).load(towns(name == "test" ? 300 : 50)) }
        kept.beforeReading = { [disk] name in if name.text == "test" { disk.wait() } }
        try kept.restart()
        kept.recovery?.serve()
        caller = try Caller(on: kept.registry, loop: loop, answers: answers)
    }

    private static let world: JSONObject = ["bbox": [-180, -90, 180, 90], "zoom": 2]

    private func open(_ method: String, _ params: JSONObject = [:], id: Int64 = 1, timeout: Int64? = nil) {
        caller.open(method, params, id: id, timeout: timeout, answers: answers)
        loop.step()
    }

    private func read() {
        disk.signal()
        kept.recovery?.wait()
        loop.step()
    }

    @Test("its description is given at once, and its name is taken") func atOnce() throws {
        open("SourceService/GetSource")
        #expect(answers.answers.last?.contains(#""state":"loading""#) == true)
        open("SourceService/CreateSource")
        #expect(answers.errors.map(\.code) == [.alreadyExists])
        read()
    }

    @Test("what needs data waits, and all of it is answered once the source is open") func waits() throws {
        open("ClusterService/GetClusters", Self.world, id: 1)
        open("SourceService/UpdateFeatures", ["remove": [1]], id: 2)
        open("ClusterService/WatchClusters", Self.world, id: 3)
        #expect(answers.answers.isEmpty)
        #expect(answers.items.isEmpty)
        #expect(caller.openCalls == 3)
        read()
        #expect(answers.answers.count == 2)
        #expect(!answers.items.isEmpty)
        #expect(answers.errors.isEmpty)
        #expect(try kept.source().revision.pointCount == 299)
        caller.receiveCancel(for: 3)
    }

    @Test("waiting ends with the deadline, and when the daemon ends") func ends() throws {
        open("ClusterService/GetClusters", Self.world, id: 1, timeout: 0)
        for timer in loop.timers { timer() }
        #expect(answers.errors.map(\.code) == [.deadlineExceeded])
        open("SourceService/DeleteSource", id: 2)
        caller.drain()
        #expect(answers.errors.map(\.code) == [.deadlineExceeded, .unavailable])
        read()
        #expect(try kept.source().revision.pointCount == 300)
    }
}
