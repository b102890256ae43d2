// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import RPC
@testable import Daemon
@testable import SocketServer

/// Large messages that wait to be read on the pool.
@Suite("Reading queue") struct ReadingQueueTests {
    @Test("the large message of a connection that is closed leaves the queue") func closedConnection() throws {
        let loop = try EventLoop()
        var limits = Limits()
        limits.shutdownGraceMs = 0
        let load = ServerLoad(limits: limits)
        let engine = CallEngine(
            loop: loop, limits: limits, access: AccessPolicy(), metrics: Metrics().shard([]),
            methods: MethodSet(), load: load)
        // Another message of the user is being read, and takes all the memory for that.
        let share = try #require(load.users.enter(.user(getuid())))
        share.add(1 << 30, to: .reading)
        let server = SocketServer(loop: loop, engine: engine) {}
        let path = NSTemporaryDirectory() + "clusterd-\(UUID().uuidString.prefix(12))"
        let listener = try Listener(on: loop, path: path) { socket in
            load.addConnections(1)
            server.accept(socket)
        }
        let client = try RawClient(path: path)
        let message = [UInt8](repeating: 7, count: 4096)
        try client.send(RawClient.frame(message, flag: 1))
        let look = Timer(on: loop, delay: 1, every: 1) {
            if load.reading.depth == 1 { server.shutDown { loop.stop() } }
        }
        loop.run()
        #expect(load.reading.depth == 0)
        #expect(load.input.bytes == 0)
        listener.close()
        withExtendedLifetime((look, client)) {}
    }
}
