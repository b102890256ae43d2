// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON

/// Writes responses.
extension Exchange {
    /// Bodies up to this size, in bytes, are copied after their heads.
    private static let copiedBody = 16 << 10

    /// Writes a response whose head is complete except for how the connection continues.
    ///
    /// - Parameter owner: keeps the body's bytes alive; nil if they must be copied.
    func send(
        _ head: consuming ResponseHead, _ body: Span<UInt8> = Span(), keeping owner: AnyObject? = nil,
        closes: Bool = false
    ) {
        guard !channel.isClosed, !isAnswered else { return }
        // A response that has begun can only be cut off.
        if parts != nil { return channel.close() }
        complete(&head, closes: closes)
        channel.write(head)
        let sends = !isHead
        if sends { channel.write(body, keeping: body.count > Self.copiedBody ? owner : nil) }
        channel.finishBody()
        isAnswered = true
        server.record(head.status, sends ? body.count : 0, of: self.head, from: channel)
        if head.closes { channel.end() }
    }

    var cacheControl: String { server.rules.cacheControl(hasRules: server.engine.hasRules) }

    /// Adds the fields that every response of the exchange has.
    func complete(_ head: inout ResponseHead, closes: Bool) {
        head.closes = closes || server.isDraining || !self.head.keepsAlive
        head.announcesKeepAlive = self.head.isVersion10
        head.resourcePolicy = server.rules.resourcePolicy
        if head.status.number >= 400 { head.vary = head.vary ?? server.rules.varyOfErrors }
        guard let origin = allowedOrigin else { return }
        head.fields.append(("Access-Control-Allow-Origin", origin))
        head.fields.append(("Access-Control-Expose-Headers", "Content-Range, ETag, Retry-After"))
    }

    package func respond(_ failure: RequestFailure, closes: Bool = false) {
        let body = connect.map { failure.connectBody($0) } ?? failure.body
        body.withBytes { body in
            var head = failure.head(body.count)
            if let connect, failure.isEndOfStream(connect) { head.asEndOfStream(connect) }
            send(head, body, closes: closes || failure.closes)
        }
    }

    /// Writes a call's answer.
    func respond(_ body: Span<UInt8>, keeping owner: AnyObject?, isGzipped: Bool) {
        let plan = answer
        if let connect, connect.isStream { return respond(lastMessages: body, connect) }
        var head = ResponseHead(status: .ok, length: .bytes(body.count), mediaType: plan.mediaType)
        if plan.mayBeEmpty, body.isEmpty {
            head = ResponseHead(status: .noContent, length: .none)
        } else if plan.isHealth, Array(copying: body).elementsEqual(Self.notServing.utf8) {
            head.status = .serviceUnavailable
        }
        head.isGzipped = isGzipped
        head.vary = server.rules.vary(plan.variation)
        if let tag = plan.tag {
            head.etag = tag
            head.cacheControl = cacheControl
        } else {
            head.cacheControl = "no-store"
        }
        head.serverTime = MonotonicClock.now() &- started
        send(head, body, keeping: owner)
    }

    /// Writes the answer of a stream from the client.
    private func respond(lastMessages body: Span<UInt8>, _ form: ConnectForm) {
        var head = ResponseHead(status: .ok, length: .bytes(body.count), mediaType: form.mediaType)
        head.cacheControl = "no-store"
        if case .messages(let stream) = self.body { head.fields = stream.fields }
        send(head, body)
    }

    func respondNotModified(_ tag: EntityTag, _ match: EntityTag.Match, _ plan: AnswerPlan) {
        send(notModified(tag, match, plan.variation, cacheControl: cacheControl))
    }

    /// The head of a 304.
    ///
    /// - Parameter match: the form of the answer that the client has.
    func notModified(
        _ tag: EntityTag, _ match: EntityTag.Match, _ variation: AnswerPlan.Variation, cacheControl: String
    ) -> ResponseHead {
        var head = ResponseHead(status: .notModified, length: .none, etag: tag)
        head.cacheControl = cacheControl
        head.vary = server.rules.vary(variation)
        head.etagIsGzipped = match == .gzipped
        return head
    }

    /// The answer of a check while the server shuts down.
    static let notServing = "{\"status\":\"NOT_SERVING\"}"

    // MARK: OPTIONS

    /// Answers with the methods of a resource, or with what a page of another site may request (the Fetch
    /// standard's preflight).
    func answerOptions(_ resource: Resource) {
        let request = head
        let methods = RequestFailure.list(resource.methods)
        var head = ResponseHead(status: .noContent, length: .none)
        head.fields.append(("Allow", methods))
        if allowedOrigin != nil, request.has(.accessControlRequestMethod) {
            head.fields.append(("Access-Control-Allow-Methods", methods))
            if let fields = request[.accessControlRequestHeaders] {
                head.fields.append(("Access-Control-Allow-Headers", fields))
            }
            head.fields.append(("Access-Control-Max-Age", "600"))
            head.vary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
        }
        send(head)
    }

    // MARK: The daemon

    func answerHealth() {
        if server.isDraining {
            answer.isHealth = true
            respond(Array(Self.notServing.utf8).span, keeping: nil, isGzipped: false)
            return
        }
        var plan = AnswerPlan()
        plan.isHealth = true
        open(MethodDeclaration.check.fullName, [:], plan)
    }

    func answerMetrics() {
        var plan = AnswerPlan()
        plan.mediaType = "text/plain; version=0.0.4; charset=utf-8"
        plan.acceptsGzip = acceptsGzip
        plan.variation = .encoding
        open(MethodDeclaration.getStats.fullName, ["format": .string("prometheus")], plan, form: .raw)
    }
}
