// SPDX-License-Identifier: MIT
import Calls
import EventLoop
import HTTPDoor
import SocketDoor

/// A transport's connections on one loop. Belongs to the loop's thread.
///
/// `DoorGroup` has one door of each kind for each loop. A transport conforms to this protocol and has a case of
/// `DoorKind`.
protocol Door: AnyObject {
    /// Serves a client that the load has already counted.
    func accept(_ socket: AcceptedSocket)

    /// Rejects a client that the load has already counted, because too many connections are open.
    func refuse(_ socket: AcceptedSocket)

    /// Applies the engine's changed limits and rights, also to open connections.
    func apply()

    /// Shuts down: accepts no new calls, lets calls in flight finish within the grace time, and closes everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    func shutDown(_ completion: @escaping () -> Void)
}

/// The transports.
enum DoorKind: Hashable, Sendable {
    /// The protocol's frames, over Unix sockets.
    case socket
    /// HTTP, with WebSocket and server-sent events.
    case http
}

extension DoorKind {
    /// The doors of one loop.
    ///
    /// - Parameters:
    ///   - http: nil if HTTP is not served.
    ///   - onGone: called on the loop's thread for each connection that has closed.
    static func doors(
        of loop: EventLoop, _ engine: CallEngine, http: HTTPService?, onGone: @escaping @Sendable () -> Void
    ) -> [DoorKind: any Door] {
        var doors: [DoorKind: any Door] = [
            .socket: SocketDoor(loop: loop, engine: engine, onGone: onGone)
        ]
        if let http { doors[.http] = HTTPDoor(engine, loop, http, onGone: onGone) }
        return doors
    }
}

extension SocketDoor: Door {}

extension HTTPDoor: Door {}
