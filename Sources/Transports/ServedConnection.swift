// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import RPC

/// A client's connection, from its start to its close, whatever it speaks. The transport reads what arrives and writes
/// what its calls produce; everything else is the same for all transports. Belongs to the loop's thread.
package protocol ServedConnection: CallTransport {
    var socket: Connection { get }
    var engine: CallEngine { get }
    var loop: EventLoop { get }
    var client: ClientOutput { get set }
    var caller: Caller! { get }
    var life: ConnectionLife { get set }
    /// Runs while a client that is still sending has time to read why its connection ends.
    var lingering: Timer? { get set }
    /// How long such a client has, in milliseconds; 0 if the connection closes at once.
    var lingerMilliseconds: UInt64 { get }

    /// Bytes that wait for the client.
    var queuedBytes: Int { get }
    /// Whether the client must read before more of its calls are processed.
    var isCongested: Bool { get }
    /// Whether nothing is read while too many bytes that the client streams wait for the pool. Otherwise each stream
    /// has a window of its own.
    var pausesForStreams: Bool { get }

    /// Bytes have arrived.
    func read(_ bytes: RawSpan)
    /// Everything passed to the system has been accepted.
    func written()
    /// The client sends nothing more, or the connection has failed.
    func ended(_ end: Connection.End)
    /// Processes what earlier iterations of the loop have left.
    func workOffBacklog()
    /// Everything that the client sent has been processed, and no more will come.
    func endInputs()
    /// Writes what the calls have produced.
    func flush()
    /// The server is about to shut down: ends the calls that would never end by themselves.
    func drain()
    /// The connection is closed: frees what the transport holds for it, and removes it from its server.
    func closed()
}

extension ServedConnection {
    package var pausesForStreams: Bool { true }

    package func start() {
        // Not weak, because that would permanently slow down every other reference. The socket makes no calls
        // after its `close`, and the server releases this object only after that.
        socket.start { [unowned self] event in
            switch event {
            case .received(let bytes):
                let bytes = bytes.bytes
                engine.metrics.traffic.received.add(UInt64(bytes.byteCount), ordering: .relaxed)
                read(bytes)
            case .written: written()
            case .ended(let end): ended(end)
            }
        }
    }

    /// Continues or pauses reading, leaves the rest to a later iteration of the loop, or closes, depending on the
    /// connection's state.
    ///
    /// - Parameters:
    ///   - hasMore: whether received messages are still unprocessed.
    ///   - isInputFull: whether so much received input waits that no more is read.
    package func proceed(hasMore: Bool, isInputFull: Bool = false) {
        let isCongested = isCongested
        caller.hold(isCongested)
        let step = life.next(
            isUnwritten: queuedBytes > 0, isCongested: isCongested, hasMore: hasMore,
            isInputFull: isInputFull || pausesForStreams && caller.isInputFull)
        switch step {
        case .none: break
        case .read: socket.resumeReading()
        case .pause: socket.pauseReading()
        case .pauseAndSchedule:
            socket.pauseReading()
            engine.connections.append { [self] in
                life.scheduledTurnCame()
                workOffBacklog()
            }
        case .endInputs: endInputs()
        case .linger: linger()
        case .close: close()
        }
    }

    /// Gives the client time to read why its connection ends.
    private func linger() {
        let time = lingerMilliseconds
        guard time > 0 else { return close() }
        caller.close()
        socket.finishWriting()
        socket.resumeReading()
        lingering = Timer(on: loop, delay: time) { [unowned self] in close() }
    }

    /// The bytes that closing the connection frees, times how long its client has read nothing; 0 if that is too short
    /// to be certain.
    func stallWeight(at now: UInt64) -> Double { client.stallWeight(of: queuedBytes, at: now) }

    /// Ends all calls with an error, and closes the connection after writing as much of the answers as the system
    /// accepts at once.
    package func close(_ error: RPCError) {
        caller.fail(error)
        flush()
        close()
    }

    /// Closes the connection and ends all its calls.
    package func close() {
        guard life.close() else { return }
        lingering = nil
        caller.close()
        socket.close()
        closed()
    }
}
