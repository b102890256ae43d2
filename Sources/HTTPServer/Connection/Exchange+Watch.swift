// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON
import Synchronization

/// Serves watches: over a WebSocket in both directions, or as server-sent events in one.
extension Exchange {
    func watch(_ source: String) throws(RequestFailure) {
        var params: JSONObject = ["source": .string(source)]
        let known = ResourceQuery.watch.known + [ResourceQuery.timing]
        let exact = try QueryParameters.read(head.query, known: known, into: &params)
        if params["bbox"] == nil { params["bbox"] = Self.world }
        let isTimed = params[ResourceQuery.timing.name] == .bool(true)
        params[ResourceQuery.timing.name] = nil
        if channel.takesWebSockets, WebSocketHandshake.isAsked(by: head) {
            let accept = try WebSocketHandshake.accept(head)
            timesWatch = isTimed
            let codec = WebSocketCodec(maximumMessage: Self.mostMessageBytes)
            var response = ResponseHead(status: .switchingProtocols, length: .none)
            response.fields = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept)]
            try openWatch(params, exact, .webSocket(codec), response)
        } else if Negotiation.names("text/event-stream", in: head[.accept]) {
            if head.method == .head { return respondToHeadOfWatch() }
            var response = ResponseHead(
                status: .ok, length: head.isVersion10 ? .untilClose : .chunked, mediaType: "text/event-stream")
            response.cacheControl = "no-store"
            // This makes proxies pass events on at once (nginx, X-Accel-Buffering).
            response.fields = [("X-Accel-Buffering", "no")]
            try openWatch(params, exact, .events, response)
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
        _ params: JSONObject, _ text: [UInt8], _ form: WatchStream.Form, _ head: ResponseHead
    ) throws(RequestFailure) {
        var request = CallRequest(
            id: channel.makeCallID(), method: MethodDeclaration.watchClusters.fullName, params: params)
        request.paramsText = text
        defer { server.shrink(&server.answer) }
        var encoder = PlainEncoder()
        // A line break would end the event's data.
        if case .events = form { encoder.isOneLine = true }
        do throws(RPCError) {
            call = try caller.open(request, by: currentIdentity(), as: encoder, into: &server.answer)
            watch = (form, head)
        } catch { throw RequestFailure(error) }
    }

    /// The first item has arrived.
    func beginWatch(_ call: Call) {
        guard let watch else { return }
        self.watch = nil
        self.call = nil
        let stream = WatchStream(channel, call, watch.form, timedSince: timesWatch ? started : nil)
        var head = watch.head
        if stream.isWebSocket {
            if let origin = allowedOrigin { head.fields.append(("Access-Control-Allow-Origin", origin)) }
        } else {
            complete(&head, closes: head.length == .untilClose)
        }
        channel.write(head)
        isAnswered = true
        server.record(head.status, 0, of: self.head, from: channel)
        // A watch may last for days, so its channel releases the request.
        channel.watch = stream
        stream.began()
        channel.beganWatch()
    }
}
