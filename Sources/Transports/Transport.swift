// SPDX-License-Identifier: MIT
import EventLoop
import RPC

/// A transport's connections on one loop. Belongs to the loop's thread.
package protocol Transport: AnyObject {
    /// Applies the engine's changed limits and rights, also to open connections.
    func apply()

    /// Shuts down: accepts no new calls, lets calls in flight finish within the grace time, and closes everything.
    ///
    /// - Parameter completion: called once, when no connection is left.
    func shutDown(_ completion: @escaping () -> Void)
}

/// A transport that has listeners.
package protocol ListeningTransport: Transport {
    /// Serves a client that the load has already counted.
    func accept(_ socket: AcceptedSocket)

    /// Rejects a client that the load has already counted, because too many connections are open.
    func refuse(_ socket: AcceptedSocket)
}

/// A transport whose clients come by the listeners of others.
package protocol AdoptingTransport: Transport {
    /// Serves a client that another transport has accepted, and whose first bytes show that it speaks this one's
    /// protocol.
    func adopt(_ client: RecognizedClient)
}

extension EventLoop: CallLoop {
    package func timer(after delay: UInt64, every interval: UInt64, _ body: @escaping () -> Void) -> AnyObject {
        let timer = Timer(on: self, delay: delay, every: interval, body)
        // Connections keep the loop running; timers of calls do not.
        timer.unreference()
        return timer
    }

    package var post: @Sendable (@escaping @Sendable () -> Void) -> Void {
        { [remote] in remote.post($0) }
    }
}
