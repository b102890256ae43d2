// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

@testable import RPC
@testable import Daemon

/// Who is served when, where one connection asks for far more than another: by the order of the work.
@Suite("Fairness") struct FairnessTests {
    /// Writes down whose call ran, and ends the loop after the last.
    private final class Journal: Sendable {
        private let names = Mutex<[String]>([])
        private let expected: Int
        private let remote: EventLoop.Remote
        private let stop: LoopBound<() -> Void>

        init(expected: Int, loop: EventLoop) {
            self.expected = expected
            remote = loop.remote
            stop = LoopBound { loop.stop() }
        }

        var order: [String] { names.withLock { $0 } }

        func add(_ name: String) {
            let isLast = names.withLock { names in
                names.append(name)
                return names.count == expected
            }
            if isLast { remote.post { [stop] in stop.value() } }
        }
    }

    private struct Handler: UnaryMethod {
        static let from = ParamDeclaration("from", .string, isRequired: true, "who asks")
        let journal: Journal
        let isQuick: Bool
        let declaration = MethodDeclaration(
            .cluster, "Ask", right: .query, on: .query, params: [Self.from], "Writes down who asks.")

        func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
            let from = try params.string(Self.from)
            return PreparedAnswer(isQuick: isQuick) { (_, bytes) throws(RPCError) in
                journal.add(from)
                bytes.append("{}" as StaticString)
            }
        }
    }

    /// Everything is in the sockets before the loop begins, so its order is the server's doing alone.
    ///
    /// - Parameter queryThreads: with one, calls run in the order in which they are started.
    private func order(_ calls: [(from: String, count: Int)], isQuick: Bool, queryThreads: Int = 2) throws -> [String] {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString.prefix(12))"
        // As the daemon does: writing to a client that has gone is an error, no end.
        signal(SIGPIPE, SIG_IGN)
        let loop = try EventLoop()
        let journal = Journal(expected: calls.reduce(0) { $0 + $1.count }, loop: loop)
        var limits = Limits()
        limits.loopThreads = 1
        limits.queryThreads = queryThreads
        var methods = MethodSet()
        methods.add(Handler(journal: journal, isQuick: isQuick))
        let server = try ServerGroup(loop: loop, limits: limits, metrics: Metrics(), methods: methods)
        try server.listen(path: path)
        var clients = try calls.map { (from, count) in
            let client = try RawClient(path: path)
            var bytes: [UInt8] = []
            for id in 1...count {
                bytes += RawClient.frame(
                    #"{"id":\#(id),"method":"clusterd.v1.ClusterService/Ask","params":{"from":"\#(from)"}}"#)
            }
            try client.send(bytes)
            return client
        }
        loop.run()
        // Otherwise an optimized build may free them before.
        withExtendedLifetime(clients) {}
        // They read nothing; gone, nobody waits for them.
        clients.removeAll()
        server.shutDown {}
        loop.run()
        return journal.order
    }

    @Test("a thousand cheap calls in one write do not delay another connection's call") func cheapCalls() throws {
        let order = try order([("many", 1000), ("one", 1)], isQuick: true)
        let before = try #require(order.firstIndex(of: "one"))
        // One turn, and what was left of the loop's round.
        #expect(before <= 2 * Limits().messagesPerTurn)
        #expect(order.count == 1001)
    }

    @Test("connections that all send many calls take turns") func turns() throws {
        let order = try order([("a", 500), ("b", 500), ("c", 500)], isQuick: true)
        for start in stride(from: 0, to: 1000, by: 200) {
            #expect(Set(order[start..<start + 200]).count == 3)
        }
    }

    @Test("hundreds of heavy calls wait in their own queue") func heavyCalls() throws {
        let order = try order([("many", 300), ("one", 2)], isQuick: false, queryThreads: 1)
        var limits = Limits()
        limits.queryThreads = 1
        // What runs, and what had its turn in the round before.
        #expect(try #require(order.firstIndex(of: "one")) <= limits.messagesPerTurn + 2 * limits.queryThreads)
        let last = try #require(order.lastIndex(of: "one"))
        #expect(last <= limits.messagesPerTurn + 4 * limits.queryThreads)
    }
}
