// SPDX-License-Identifier: MIT
import EventLoop

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
