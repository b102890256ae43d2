// SPDX-License-Identifier: MIT
import EventLoop
import RPC
import HTTPServer
import SocketServer

/// A transport's connections on one loop. Belongs to the loop's thread.
///
/// `ServerGroup` has one server of each kind for each loop. A transport conforms to this protocol and has a case
/// of `TransportKind`.
protocol Transport: AnyObject {
    /// Serves a client that the load has already counted.
    func accept(_ socket: AcceptedSocket)

    /// Rejects a client that the load has already counted, because too many connections are open.
    func refuse(_ socket: AcceptedSocket)

    /// Applies the engine's changed limits and rights, also to open connections.
    func apply()

    /// Shuts down: accepts no new calls, lets calls in flight finish within the grace time, and closes
    /// everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    func shutDown(_ completion: @escaping () -> Void)
}

/// The transports.
enum TransportKind: Hashable, Sendable {
    /// The protocol's frames, over Unix sockets.
    case socket
    /// HTTP, with WebSocket and server-sent events.
    case http

    /// The servers of one loop.
    ///
    /// - Parameters:
    ///   - http: nil if HTTP is not served.
    ///   - onGone: called on the loop's thread for each connection that has closed.
    static func servers(
        of loop: EventLoop, _ engine: CallEngine, http: HTTPService?, onGone: @escaping @Sendable () -> Void
    ) -> [TransportKind: any Transport] {
        var servers: [TransportKind: any Transport] = [
            .socket: SocketServer(loop: loop, engine: engine, onGone: onGone)
        ]
        if let http { servers[.http] = HTTPServer(engine, loop, http, onGone: onGone) }
        return servers
    }
}

extension SocketServer: Transport {}

extension HTTPServer: Transport {}

extension EventLoop: CallLoop {
    package func timer(
        after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void
    ) -> AnyObject {
        let timer = Timer(on: self, delay: delay, every: interval, body)
        // Connections keep the loop running; timers of calls do not.
        timer.unreference()
        return timer
    }

    package var post: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [remote] in remote.post($0) }
    }
}
