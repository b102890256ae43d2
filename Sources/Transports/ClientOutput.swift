// SPDX-License-Identifier: MIT
import EventLoop
import JSON
import RPC

/// What a connection writes to its client: the system gets as much as it accepts at once, and the rest waits and counts
/// as unread. It also tracks whether the client reads. Belongs to the loop's thread.
package struct ClientOutput {
    private let socket: Connection
    private let engine: CallEngine
    /// What the client has not read.
    package let unread: UnreadAccount
    private var progress = ClientProgress()
    /// Bytes passed to the system since the connection began.
    private var handedBytes: UInt64 = 0

    package init(_ socket: Connection, _ engine: CallEngine, _ unread: UnreadAccount) {
        (self.socket, self.engine, self.unread) = (socket, engine, unread)
    }

    // MARK: Writing

    /// Writes bytes; what the system does not accept at once is copied.
    package mutating func write(_ bytes: borrowing ByteWriter) {
        let taken = bytes.withBytes { socket.tryWrite($0) }
        count(accepted: taken)
        queue(restOf: bytes, after: taken)
    }

    /// Writes bytes and, after them, a body that is not copied.
    ///
    /// - Parameter owner: keeps the body's bytes, which must not change.
    package mutating func write(_ bytes: borrowing ByteWriter, then body: Span<UInt8>, keeping owner: AnyObject) {
        let taken = bytes.withBytes { socket.tryWrite($0, body) }
        count(accepted: taken)
        queue(restOf: bytes, after: taken)
        let start = max(0, taken - bytes.count)
        guard start < body.count else { return }
        queue(body.extracting(start...), keeping: owner, of: body.count)
    }

    /// Writes bytes without copying them.
    package mutating func write(_ bytes: OutgoingBytes) {
        bytes.writer.withBytes { queue($0, keeping: bytes, of: $0.count) }
    }

    private mutating func queue(restOf bytes: borrowing ByteWriter, after taken: Int) {
        guard taken < bytes.count else { return }
        var rest = ByteWriter(capacity: bytes.count - taken)
        rest.append(contentsOf: bytes, from: taken)
        write(OutgoingBytes(rest))
    }

    private mutating func queue(_ bytes: Span<UInt8>, keeping owner: AnyObject, of size: Int) {
        count(sent: bytes.count)
        engine.load.unread.pass(bytes, keeping: owner, of: size, for: unread) { socket.write($0, keeping: $1) }
    }

    private mutating func count(accepted count: Int) {
        self.count(sent: count)
        unread.wasAccepted(count)
    }

    private mutating func count(sent count: Int) {
        handedBytes += UInt64(count)
        engine.metrics.traffic.sent.add(UInt64(count), ordering: .relaxed)
    }

    // MARK: Stalled clients

    /// Records the state of the client's input and output.
    ///
    /// - Parameters:
    ///   - waiting: bytes that have not been passed to `write`.
    ///   - unfinished: bytes received of a message that is incomplete.
    ///   - messages: complete messages received since the connection began.
    ///   - now: nanoseconds on the monotonic clock.
    package mutating func look(waiting: Int = 0, unfinished: Int = 0, messages: Int = 0, at now: UInt64) {
        let unwritten = socket.unwrittenBytes
        progress.look(
            unread: unwritten + waiting, taken: handedBytes - UInt64(clamping: unwritten),
            inSystem: unwritten > 0 ? socket.bytesInSystem : 0, unfinished: unfinished, messages: messages, at: now)
    }

    /// Whether the client has left bytes unread for too long.
    package func isStalled(at now: UInt64) -> Bool {
        progress.hasLeftUnread(for: engine.limits.stallSeconds, at: now)
    }

    /// Whether the client has left a message incomplete for too long.
    package func hasLeftUnfinished(at now: UInt64) -> Bool {
        progress.hasLeftUnfinished(for: engine.limits.messageSeconds, at: now)
    }

    /// The bytes that closing the connection frees, times how long nothing has been read; 0 if that is too short to be
    /// certain.
    package func stallWeight(of queuedBytes: Int, at now: UInt64) -> Double {
        progress.stallWeight(of: queuedBytes, at: now)
    }
}
