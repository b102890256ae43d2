// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import RPC
import Transports
import TypedContract
import Synchronization

/// A watch in progress, over a WebSocket or as server-sent events. Belongs to the loop's thread.
package final class WatchStream {
    enum Form {
        case webSocket(WebSocketCodec)
        case events
        /// Messages of Connect, which have their own prefixes.
        case messages
    }

    private unowned let channel: any ResponseChannel
    private let call: Call
    private let form: Form
    private var isOver = false
    private let isTimed: Bool
    /// When the request came that the next item answers; nil for an item that reports changed data.
    private var asked: UInt64?
    /// Received bytes, and how many of them have been processed.
    private var input: [UInt8] = []
    private var taken = 0

    /// - Parameter moment: when the watch was requested, if its items say how long the daemon took.
    init(_ channel: any ResponseChannel, _ call: Call, _ form: Form, timedSince moment: UInt64?) {
        isTimed = moment != nil
        asked = moment
        self.channel = channel
        self.call = call
        self.form = form
    }

    var isWebSocket: Bool { if case .webSocket = form { true } else { false } }

    private var counters: HTTPCounters { channel.server.service.counters }

    func began() { count(1) }

    /// The client has taken all items.
    package func wantToSend() { call.wantToSend() }

    private func count(_ change: Int) {
        if isWebSocket {
            counters.webSockets.add(change, ordering: .relaxed)
        } else {
            counters.eventStreams.add(change, ordering: .relaxed)
        }
    }

    /// Nobody watches any more.
    package func closed() {
        count(-1)
        isOver = true
        call.cancel()
    }

    // MARK: From the client

    func append(_ bytes: RawSpan) {
        guard isWebSocket, !isOver else { return }
        if taken == input.count { (input, taken) = ([], 0) }
        input.append(contentsOf: bytes)
    }

    /// Received bytes that wait for a turn.
    var waitingBytes: Int { input.count - taken }

    /// Processes a part of what was received; returns false if nothing is left.
    func takeInput(_ budget: inout HTTPConnection.InputBudget) -> Bool {
        guard case .webSocket(let codec) = form, !isOver, taken < input.count else {
            (input, taken) = ([], 0)
            return false
        }
        let part = taken..<min(taken + Self.bytesPerStep, input.count)
        taken = part.upperBound
        budget.bytes -= part.count * Self.costPerByte
        let bytes = input
        for event in codec.receive(bytes.span.extracting(part)) {
            switch event {
            case .text(let item):
                if isTimed { asked = MonotonicClock.now() }
                call.receive(item)
            case .binary: close(.unsupportedData, "Viewports are text messages.")
            case .pong: channel.receivedPong()
            case .closed: break
            }
            if isOver { break }
        }
        writeControls()
        if codec.isClosing, !isOver { leave() }
        return true
    }

    private static let bytesPerStep = 1 << 10
    /// A frame of a few bytes takes as long as many bytes of a head.
    private static let costPerByte = 8

    /// The client has closed the WebSocket, or violated the protocol.
    private func leave() {
        isOver = true
        call.cancel()
        channel.end()
    }

    // MARK: To the client

    func send(_ bytes: OutgoingBytes, of revision: UInt64?) {
        guard !isOver else { return }
        var count = bytes.writer.count
        var timing = ByteWriter()
        if let asked {
            // The item is a JSON object: its last byte makes way for one more member.
            timing.append(",\"daemonMs\":")
            timing.append(milliseconds: MonotonicClock.now() &- asked)
            timing.append("}")
            count -= 1
            self.asked = nil
        }
        var head = ByteWriter(capacity: 64)
        switch form {
        case .messages:
            return bytes.writer.withBytes { channel.write($0, keeping: count > Self.copiedItem ? bytes : nil) }
        case .webSocket: WebSocketCodec.writeTextHead(count + timing.count, into: &head)
        case .events:
            head.append("event: change\nid: ")
            head.append(integer: revision ?? 0)
            head.append("\ndata: ")
            timing.append("\n\n")
        }
        guard count > Self.copiedItem else {
            bytes.writer.withBytes { head.append(contentsOf: $0.extracting(..<count)) }
            head.append(contentsOf: timing)
            return write(head)
        }
        write(head)
        bytes.writer.withBytes { channel.write($0.extracting(..<count), keeping: bytes) }
        write(timing)
    }

    private func write(_ bytes: borrowing ByteWriter) { bytes.withBytes { channel.write($0, keeping: nil) } }

    private static let copiedItem = 16 << 10

    func fail(_ error: RPCError) {
        switch form {
        case .webSocket: close(WebSocketCode(error), error.message)
        case .events:
            var text = ByteWriter()
            text.append("event: error\ndata: ")
            error.writeBody(into: &text)
            text.append("\n\n")
            endEvents(text)
        case .messages:
            var text = ByteWriter()
            TypedAnswerEncoder.endStream(error, in: &text)
            endEvents(text)
        }
    }

    /// The stream has ended successfully.
    ///
    /// - Parameter last: what the call has written for its end.
    func finish(_ last: OutgoingBytes) {
        switch form {
        case .webSocket: close(.normal, "")
        case .events: endEvents(ByteWriter())
        case .messages: endEvents(last.writer)
        }
    }

    private func endEvents(_ last: borrowing ByteWriter) {
        guard !isOver else { return }
        isOver = true
        write(last)
        channel.finishBody()
        channel.end()
    }

    private func close(_ code: WebSocketCode, _ reason: String) {
        guard case .webSocket(let codec) = form, !isOver else { return }
        isOver = true
        codec.close(code, reason)
        writeControls()
        call.cancel()
        channel.end()
    }

    private func writeControls() {
        guard case .webSocket(let codec) = form else { return }
        channel.write(codec.takeOutput().span, keeping: nil)
    }

    func ping() {
        guard case .webSocket(let codec) = form, !isOver else { return }
        codec.ping()
        writeControls()
        channel.flush()
    }

    package func comment() {
        guard !isOver, case .events = form else { return }
        var text = ByteWriter()
        text.append(":\n\n")
        write(text)
        channel.flush()
    }
}
