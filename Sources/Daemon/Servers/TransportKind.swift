// SPDX-License-Identifier: MIT
import EventLoop
import HTTPServer
import RPC
import SocketServer
import Transports

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
    ///   - onClosed: called on the loop's thread for each connection that has closed.
    static func servers(
        of loop: EventLoop, _ engine: CallEngine, http: HTTPService?, onClosed: @escaping @Sendable () -> Void
    ) -> [TransportKind: any Transport] {
        var servers: [TransportKind: any Transport] = [
            .socket: SocketServer(loop: loop, engine: engine, onClosed: onClosed)
        ]
        if let http { servers[.http] = HTTPServer(engine, loop, http, onClosed: onClosed) }
        return servers
    }
}
