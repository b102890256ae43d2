// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import RPC
@testable import SocketServer

/// What connections get between the request to shut down and the end of the last call.
@Suite("Draining") struct DrainingTests {
    /// Answers once it is released.
    private struct HeldMethod: UnaryMethod {
        let release: DispatchSemaphore
        let declaration = MethodDeclaration(
            .server, "Hold", right: .query, on: .query, params: [], "Answers once it is released.")

        func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
            PreparedAnswer(isQuick: false) { (_, bytes) throws(RPCError) in
                release.wait()
                bytes.append("{}" as StaticString)
            }
        }
    }

    @Test("while a call finishes, all connections are read, and new calls get UNAVAILABLE") func callInFlight() throws {
        let loop = try EventLoop()
        var limits = Limits()
        limits.shutdownGraceMs = 3_600_000
        var methods = MethodSet()
        let release = DispatchSemaphore(value: 0)
        methods.add(HeldMethod(release: release))
        let load = ServerLoad(limits: limits)
        let engine = CallEngine(
            loop: loop, limits: limits, access: AccessPolicy(),
            metrics: Metrics().shard(methods.all.map(\.declaration.fullName)), methods: methods, load: load)
        let server = SocketServer(loop: loop, engine: engine) {}
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString.prefix(12))"
        let listener = try Listener(on: loop, path: path) { socket in
            load.addConnections(1)
            server.accept(socket)
        }
        let (busy, other) = (try RawClient(path: path), try RawClient(path: path))
        try busy.open("ServerService/Hold")
        var later: AnyObject?
        let look = Timer(on: loop, delay: 1, every: 1) {
            guard later == nil, load.callsInFlight == 1, load.openConnections == 2 else { return }
            engine.beginDraining()
            server.shutDown { loop.stop() }
            // By then the server has looked at its connections several times.
            later = Timer(on: loop, delay: 3 * SocketServer.watchInterval) {
                _ = try? other.open("ServerService/Hold")
                release.signal()
            }
        }
        loop.run()
        listener.close()
        #expect(RawClient.status(try other.receive()["error"]).status == "UNAVAILABLE")
        #expect(other.isClosed())
        #expect(try busy.receive()["result"] == [:])
        #expect(busy.isClosed())
        withExtendedLifetime((look, later)) {}
    }
}
