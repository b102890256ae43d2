// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON

/// Writes responses.
extension HTTPConnection {
    /// Bodies up to this size, in bytes, are copied after their heads.
    private static let copiedBody = 16 << 10

    /// Writes a response whose head is complete except for how the connection continues.
    ///
    /// - Parameter owner: keeps the body's bytes alive; nil if they must be copied.
    func send(
        _ head: consuming ResponseHead, _ body: Span<UInt8> = Span(), keeping owner: AnyObject? = nil,
        closes: Bool = false
    ) {
        guard !isClosed, exchange?.isAnswered != true else { return }
        complete(&head, closes: closes)
        head.write(into: &server.output, date: server.dateText)
        let sends = exchange?.isHead != true
        if sends {
            if let owner, body.count > Self.copiedBody {
                write(body, keeping: owner)
            } else {
                server.output.append(contentsOf: body)
            }
        }
        exchange?.isAnswered = true
        record(head.status, sends ? body.count : 0)
        if head.closes { end() }
    }

    /// Adds the fields that every response of the exchange has.
    func complete(_ head: inout ResponseHead, closes: Bool) {
        head.closes = closes || server.isDraining || exchange?.head.keepsAlive == false
        head.announcesKeepAlive = exchange?.head.isVersion10 == true
        head.resourcePolicy = server.rules.resourcePolicy
        if head.status.number >= 400 { head.vary = head.vary ?? server.rules.varyOfErrors }
        guard let origin = exchange?.allowedOrigin else { return }
        head.fields.append(("Access-Control-Allow-Origin", origin))
        head.fields.append(("Access-Control-Expose-Headers", "Content-Range, ETag, Retry-After"))
    }

    func respond(_ failure: RequestFailure, closes: Bool = false) {
        failure.body.withBytes { send(failure.head($0.count), $0, closes: closes || failure.closes) }
    }

    /// Writes a call's answer.
    func respond(_ body: Span<UInt8>, keeping owner: AnyObject?, isGzipped: Bool) {
        guard let plan = exchange?.answer else { return }
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
            head.cacheControl = server.rules.cacheControl
        } else {
            head.cacheControl = "no-store"
        }
        head.serverTime = exchange.map { MonotonicClock.now() &- $0.started }
        send(head, body, keeping: owner)
    }

    func respondNotModified(_ tag: EntityTag, _ match: EntityTag.Match, _ plan: AnswerPlan) {
        send(notModified(tag, match, plan.variation, cacheControl: server.rules.cacheControl))
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
        guard let request = exchange?.head else { return }
        let methods = RequestFailure.list(resource.methods)
        var head = ResponseHead(status: .noContent, length: .none)
        head.fields.append(("Allow", methods))
        if exchange?.allowedOrigin != nil, request.has(.accessControlRequestMethod) {
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
            exchange?.answer.isHealth = true
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

    // MARK: The log

    func record(_ status: HTTPStatus, _ bytes: Int) {
        server.service.counters.count(status: status.number)
        server.service.log.record(
            AccessLog.Entry(
                address: address ?? "unix:", user: isOverUnix ? String(caller.peer.userID) : "-",
                moment: HTTPDate.logText(HTTPDate.now), requestLine: exchange?.head.line ?? "-",
                status: status.number, bytes: bytes, referer: exchange?.head[.referer],
                userAgent: exchange?.head[.userAgent]))
    }
}
