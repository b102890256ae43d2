// SPDX-License-Identifier: MIT
import EventLoop
import HTTP2Server
import HTTPServer
import RPC
import SocketServer
import Transports

/// What a listener serves.
enum TransportKind: Sendable {
    /// The protocol's frames, over Unix sockets; and all that HTTP's listeners serve.
    case socket
    /// HTTP, with WebSocket and server-sent events; and gRPC over HTTP/2.
    case http
}

/// The servers of one loop. Belongs to the loop's thread.
struct LoopServers {
    let socket: SocketServer
    let http: HTTPServer
    private let http2: HTTP2Server

    /// - Parameter onClosed: called on the loop's thread for each connection that has closed.
    init(
        of loop: EventLoop, _ engine: CallEngine, http service: HTTPService, health: any HealthStatus,
        onClosed: @escaping @Sendable () -> Void
    ) {
        socket = SocketServer(loop: loop, engine: engine, onClosed: onClosed)
        http = HTTPServer(engine, loop, service, onClosed: onClosed)
        http2 = HTTP2Server(engine, loop, http, health: health, onClosed: onClosed)
        socket.http = http
        http.http2 = http2
    }

    var all: [any Transport] { [socket, http, http2] }

    subscript(kind: TransportKind) -> any ListeningTransport { kind == .socket ? socket : http }
}
