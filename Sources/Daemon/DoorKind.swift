// SPDX-License-Identifier: MIT
import Calls
import EventLoop
import HTTPDoor
import SocketDoor

/// The transports.
enum DoorKind: Hashable, Sendable {
    /// The protocol's frames, over Unix sockets.
    case socket
    /// HTTP, with WebSocket and server-sent events.
    case http

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
