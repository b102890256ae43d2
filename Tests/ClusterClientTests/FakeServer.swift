// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import Foundation
import JSON
import Synchronization

/// A server on a socket of its own that answers as a test says.
final class FakeServer: Sendable {
    /// What a test's handler may do with a message: runs on the server's loop.
    final class Peer {
        private let connection: Connection
        /// For the handler's own bookkeeping.
        var memory: [Int64] = []

        init(_ connection: Connection) { self.connection = connection }

        func send(_ json: String) {
            var bytes = ByteWriter()
            let frame = FrameEncoder(beginningIn: &bytes)
            bytes.append(raw: json)
            frame.end(in: &bytes)
            sendRaw(bytes.bytes)
        }

        func sendRaw(_ bytes: [UInt8]) {
            let copy = NSData(bytes: bytes, length: bytes.count)
            connection.write(UnsafeRawBufferPointer(start: copy.bytes, count: copy.length), keeping: copy)
        }

        func result(_ id: Int64, _ json: String) { send(#"{"id":\#(id),"result":\#(json)}"#) }
        func item(_ id: Int64, _ json: String) { send(#"{"id":\#(id),"item":\#(json)}"#) }
        func close() { connection.close() }
        func pauseReading() { connection.pauseReading() }
        func resumeReading() { connection.resumeReading() }
    }

    let path: String
    private let remote = Mutex<(EventLoop.Remote, LoopBound<EventLoop>)?>(nil)

    init(
        onAccept: @escaping @Sendable (Peer) -> Void = { _ in }, onEnd: @escaping @Sendable () -> Void = {},
        _ handler: @escaping @Sendable (ClientMessage, Peer) -> Void
    ) throws {
        // A write to a client that has gone shows as an error, not as the end of the tests.
        signal(SIGPIPE, SIG_IGN)
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            "f\(UUID().uuidString.prefix(8)).sock"
        ).path
        self.path = path
        let ready = DispatchSemaphore(value: 0)
        let failure = Mutex<EventLoopError?>(nil)
        Thread.detachNewThread { [self] in
            // The client may have closed before this server writes.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            do throws(EventLoopError) {
                let loop = try EventLoop()
                var kept: [(Connection, Peer)] = []
                let listener = try Listener(on: loop, path: path) { socket in
                    guard let connection = Connection(on: loop, taking: socket) else { return }
                    let peer = Peer(connection)
                    kept.append((connection, peer))
                    Self.serve(connection, peer, onEnd, handler)
                    onAccept(peer)
                }
                remote.withLock { $0 = (loop.remote, LoopBound(loop)) }
                ready.signal()
                loop.run()
                listener.close()
                kept.forEach { $0.0.close() }
            } catch {
                failure.withLock { $0 = error }
                ready.signal()
            }
        }
        ready.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func serve(
        _ connection: Connection, _ peer: Peer, _ onEnd: @escaping @Sendable () -> Void,
        _ handler: @escaping @Sendable (ClientMessage, Peer) -> Void
    ) {
        var frames = FrameDecoder()
        let parser = JSONParser()
        connection.start { event in
            switch event {
            case .received(let bytes):
                frames.append(bytes.bytes)
                do {
                    while let message = try frames.next({ try? ClientMessage.read($0, parser: parser) }) {
                        if let message { handler(message, peer) }
                    }
                } catch { connection.close() }
            case .written: break
            case .ended:
                connection.close()
                onEnd()
            }
        }
    }

    /// Runs something on the server's loop.
    func post(_ body: @escaping @Sendable () -> Void) { remote.withLock { $0?.0.post(body) } }

    deinit {
        remote.withLock { remote in
            guard let (remote, loop) = remote else { return }
            remote.post { loop.value.stop() }
        }
    }
}
