// SPDX-License-Identifier: MIT
import EventLoop
import Synchronization
import Testing

import class Foundation.FileManager
import struct Foundation.UUID

@Suite("Brief polling") struct BriefPollingTests {
    private let path = FileManager.default.temporaryDirectory
        .appendingPathComponent("p\(UUID().uuidString.prefix(8)).sock").path

    /// Sends bytes to a loop, each after the one before has come back, and returns how long the loop has
    /// polled.
    private func pollingTime(microseconds: Int, _ budget: PollingBudget, roundTrips: Int = 100) throws -> UInt64 {
        let (server, client) = (try EventLoop(), try EventLoop())
        server.poll(microseconds: microseconds, within: budget)
        var served: Connection?
        let listener = try Listener(on: server, path: path) { socket in
            served = Connection(on: server, taking: socket)
            served?.start { event in
                if case .received(let bytes) = event { _ = served?.tryWrite(bytes) }
            }
        }
        let thread = try LoopThread(running: server)
        var answers = 0
        var connection: Connection?
        Connection.connect(on: client, path: path) { result in
            connection = try? result.get()
            connection?.start { event in
                guard case .received(let bytes) = event else { return client.stop() }
                answers += bytes.count
                if answers == roundTrips { client.stop() } else { _ = connection?.tryWrite(bytes) }
            }
            _ = [UInt8(7)].withUnsafeBytes { connection?.tryWrite($0) }
        }
        client.run()
        connection?.close()
        let bound = LoopBound((server, listener))
        server.remote.post {
            bound.value.1.close()
            bound.value.0.stop()
        }
        thread.join()
        served?.close()
        #expect(answers == roundTrips)
        return server.pollingNanoseconds
    }

    /// Any machine answers within that.
    private static let long = 60_000_000

    @Test("a loop polls between a client's messages that follow soon, and answers all of them")
    func pollsBetweenFrequentMessages() throws {
        #expect(try pollingTime(microseconds: Self.long, PollingBudget(loops: 1)) > 0)
    }

    @Test("a loop does not poll if the budget is used up, or if it may not") func doesNotPollWithoutBudget() throws {
        #expect(try pollingTime(microseconds: Self.long, PollingBudget(loops: 0)) == 0)
        #expect(try pollingTime(microseconds: 0, PollingBudget(loops: 1)) == 0)
    }

    @Test("a loop that ends gives its part of the budget back") func releasesBudgetAtEnd() throws {
        let budget = PollingBudget(loops: 1)
        for _ in 0..<2 { #expect(try pollingTime(microseconds: Self.long, budget) > 0) }
    }
}
