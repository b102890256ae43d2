// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON
import Synchronization

/// Serves watches: over a WebSocket in both directions, or as server-sent events in one.
extension HTTPConnection {
    func watch(_ source: String) throws(RequestFailure) {
        guard let head = exchange?.head else { return }
        var params: JSONObject = ["source": .string(source)]
        try QueryParameters.read(head.query, known: ResourceQuery.watch.known + [ResourceQuery.timing], into: &params)
        if params["bbox"] == nil { params["bbox"] = Self.world }
        let isTimed = params[ResourceQuery.timing.name] == .bool(true)
        params[ResourceQuery.timing.name] = nil
        if WebSocketHandshake.isAsked(by: head) {
            let accept = try WebSocketHandshake.accept(head)
            exchange?.timesWatch = isTimed
            let codec = WebSocketCodec(maximumMessage: Self.mostMessageBytes)
            var response = ResponseHead(status: .switchingProtocols, length: .none)
            response.fields = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept)]
            try openWatch(params, .webSocket(codec), response)
        } else if Negotiation.names("text/event-stream", in: head[.accept]) {
            if head.method == .head { return respondToHeadOfWatch() }
            var response = ResponseHead(
                status: .ok, length: head.isVersion10 ? .untilClose : .chunked, mediaType: "text/event-stream")
            response.cacheControl = "no-store"
            // This makes proxies pass events on at once (nginx, X-Accel-Buffering).
            response.fields = [("X-Accel-Buffering", "no")]
            try openWatch(params, .events(isChunked: !head.isVersion10), response)
        } else {
            throw RequestFailure(
                .upgradeRequired,
                "A watch is a WebSocket, or server-sent events for a request with Accept: text/event-stream.")
        }
    }

    /// Enough for any viewport, which is small.
    private static let mostMessageBytes = 64 << 10

    /// Answers HEAD for a watch with its head alone, because a watch has no end.
    private func respondToHeadOfWatch() {
        var head = ResponseHead(status: .ok, length: .none, mediaType: "text/event-stream")
        head.cacheControl = "no-store"
        send(head)
    }

    private func openWatch(
        _ params: JSONObject, _ form: WatchConnection.Form, _ head: ResponseHead
    ) throws(RequestFailure) {
        callID &+= 1
        let request = CallRequest(id: callID, method: MethodDeclaration.watchClusters.fullName, params: params)
        defer { server.shrink(&server.answer) }
        var encoder = PlainEncoder()
        // A line break would end the event's data.
        if case .events = form { encoder.isOneLine = true }
        do throws(RPCError) {
            exchange?.call = try caller.open(request, as: encoder, into: &server.answer)
            exchange?.watch = (form, head)
        } catch { throw RequestFailure(error) }
    }

    /// The first item has arrived.
    func beginWatch(_ call: Call) {
        guard let watch = exchange?.watch else { return }
        exchange?.watch = nil
        exchange?.call = nil
        let timed = exchange?.timesWatch == true ? exchange?.started : nil
        let stream = WatchConnection(self, call, watch.form, timedSince: timed)
        var head = watch.head
        if stream.isWebSocket {
            if let origin = exchange?.allowedOrigin {
                head.fields.append(("Access-Control-Allow-Origin", origin))
            }
        } else {
            complete(&head, closes: head.length == .untilClose)
        }
        head.write(into: &server.output, date: server.dateText)
        exchange?.isAnswered = true
        record(head.status, 0)
        let rest = reader.takeRest()
        self.stream = stream
        // A watch may last for days, so it retains nothing of its request.
        exchange = nil
        stream.began()
        guard !rest.isEmpty else { return }
        stream.append(rest.span.bytes)
        process()
    }
}

/// A connection that carries a watch. Belongs to the loop's thread.
final class WatchConnection {
    enum Form {
        case webSocket(WebSocketCodec)
        case events(isChunked: Bool)
    }

    private unowned let connection: HTTPConnection
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
    init(_ connection: HTTPConnection, _ call: Call, _ form: Form, timedSince moment: UInt64?) {
        isTimed = moment != nil
        asked = moment
        self.connection = connection
        self.call = call
        self.form = form
    }

    var isWebSocket: Bool { if case .webSocket = form { true } else { false } }

    private var counters: HTTPCounters { connection.server.service.counters }

    func began() { count(1) }

    private func count(_ change: Int) {
        if isWebSocket {
            counters.webSockets.add(change, ordering: .relaxed)
        } else {
            counters.eventStreams.add(change, ordering: .relaxed)
        }
    }

    func closed() { count(-1) }

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
            case .pong: connection.clock.receivedPong()
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
        connection.end()
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
        switch form {
        case .webSocket:
            WebSocketCodec.writeTextHead(count + timing.count, into: &connection.server.output)
        case .events(let isChunked):
            var head = ByteWriter(capacity: 64)
            head.append("event: change\nid: ")
            head.append(integer: revision ?? 0)
            head.append("\ndata: ")
            if isChunked { writeChunkHead(head.count + count + 2) }
            connection.server.output.append(contentsOf: head)
        }
        bytes.writer.withBytes { bodyAndEnd in
            let body = bodyAndEnd.extracting(..<count)
            if count > Self.copiedItem {
                connection.write(body, keeping: bytes)
            } else {
                connection.server.output.append(contentsOf: body)
            }
        }
        connection.server.output.append(contentsOf: timing)
        guard case .events(let isChunked) = form else { return }
        connection.server.output.append("\n\n")
        if isChunked { connection.server.output.append("\r\n") }
    }

    private static let copiedItem = 16 << 10

    private func writeChunkHead(_ count: Int) {
        connection.server.output.append(raw: String(count, radix: 16))
        connection.server.output.append("\r\n")
    }

    func fail(_ error: RPCError) {
        switch form {
        case .webSocket: close(WebSocketCode(error), error.message)
        case .events:
            var text = ByteWriter()
            text.append("event: error\ndata: ")
            error.writeBody(into: &text)
            text.append("\n\n")
            endEvents(text)
        }
    }

    /// The stream has ended successfully.
    func finish() {
        switch form {
        case .webSocket: close(.normal, "")
        case .events: endEvents(ByteWriter())
        }
    }

    private func endEvents(_ last: consuming ByteWriter) {
        guard !isOver else { return }
        isOver = true
        write(events: last)
        if case .events(isChunked: true) = form { connection.server.output.append("0\r\n\r\n") }
        connection.end()
    }

    private func write(events text: borrowing ByteWriter) {
        guard text.count > 0, case .events(let isChunked) = form else { return }
        if isChunked { writeChunkHead(text.count) }
        connection.server.output.append(contentsOf: text)
        if isChunked { connection.server.output.append("\r\n") }
    }

    private func close(_ code: WebSocketCode, _ reason: String) {
        guard case .webSocket(let codec) = form, !isOver else { return }
        isOver = true
        codec.close(code, reason)
        writeControls()
        call.cancel()
        connection.end()
    }

    private func writeControls() {
        guard case .webSocket(let codec) = form else { return }
        connection.server.output.append(contentsOf: codec.takeOutput())
    }

    func ping() {
        guard case .webSocket(let codec) = form, !isOver else { return }
        codec.ping()
        writeControls()
        connection.flush()
    }

    func comment() {
        guard !isOver else { return }
        var text = ByteWriter()
        text.append(":\n\n")
        write(events: text)
        connection.flush()
    }
}
