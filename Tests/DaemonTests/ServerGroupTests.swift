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

@Suite("Several loops") struct ServerGroupTests {
    /// Answers with the thread that it runs on.
    private struct ThreadHandler: UnaryMethod {
        let declaration = MethodDeclaration(
            .server, "Thread", right: .query, on: .loop, params: [], "The thread that answers.")

        func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
            PreparedAnswer(isQuick: true) { (_, bytes) throws(RPCError) in
                bytes.append(.object(["thread": .string("\(pthread_self())")]))
            }
        }
    }

    /// Runs a group of three loops beside the body, which is to shut it down by what it is given.
    private func serve(
        _ limits: (inout Limits) -> Void = { _ in },
        _ body: @escaping @Sendable (_ path: String, _ shutDown: @Sendable () -> Void) throws -> Void
    ) throws {
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString.prefix(12))"
        signal(SIGPIPE, SIG_IGN)
        let loop = try EventLoop()
        var own = Limits()
        own.loopThreads = 3
        limits(&own)
        var methods = MethodSet()
        methods.add(ThreadHandler())
        let group = try ServerGroup(loop: loop, limits: own, metrics: Metrics(), methods: methods)
        try group.listen(path: path)
        let (remote, bound) = (loop.remote, LoopBound((group, loop)))
        let failure = Mutex<(any Error)?>(nil)
        let client = Thread {
            let shutDown: @Sendable () -> Void = {
                remote.post {
                    let (group, loop) = bound.value
                    group.shutDown { loop.stop() }
                }
            }
            do { try body(path, shutDown) } catch {
                failure.withLock { $0 = error }
                shutDown()
            }
        }
        client.start()
        loop.run()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    @Test(
        "connections are spread over as many loops as their number justifies, and each stays on its loop",
        arguments: [
            (4, [2, 2]), (9, [4, 5]), (16, [8, 8]), (18, [9, 9]), (20, [2, 9, 9]), (27, [9, 9, 9]),
            (30, [10, 10, 10]),
        ])
    func dealing(connections: Int, expected: [Int]) throws {
        let shares = Mutex<[String: Int]>([:])
        try serve { path, shutDown in
            let clients = try (0..<connections).map { _ in try RawClient(path: path) }
            for client in clients {
                let threads = try (0..<3).map { _ in
                    try #require(try client.call("ServerService/Thread")["thread"]?.string)
                }
                #expect(Set(threads).count == 1)
                shares.withLock { $0[threads[0], default: 0] += 1 }
            }
            shutDown()
            for client in clients { #expect(client.isClosed()) }
        }
        #expect(shares.withLock { $0.values.sorted() } == expected)
    }

    @Test("limits apply to all loops together") func limits() throws {
        try serve({ $0.maxConnections = 4 }) { path, shutDown in
            var clients = try (0..<4).map { _ in try RawClient(path: path) }
            for client in clients { _ = try client.call("ServerService/Thread") }
            let refused = try RawClient(path: path)
            #expect(RawClient.status(try refused.receive()["error"]).status == "RESOURCE_EXHAUSTED")
            #expect(refused.isClosed())
            clients.removeLast(2)
            // The room comes back once the loops have seen the ends.
            var answer: JSONValue?
            while answer == nil { answer = try? RawClient(path: path).call("ServerService/Thread") }
            #expect(answer?["thread"] != nil)
            shutDown()
            for client in clients { #expect(client.isClosed()) }
        }
    }
}
