// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import JSON

/// Handles requests, from their heads to the ends of their bodies.
extension Exchange {
    /// A head has arrived.
    package func begin() {
        do throws(RequestFailure) {
            try admit(head)
            try identify()
            let resource = try Router.resource(head.path)
            self.resource = resource
            guard resource.methods.contains(head.method) else {
                throw RequestFailure(
                    .methodNotAllowed, "This resource has the methods \(RequestFailure.list(resource.methods)) only.",
                    allowed: resource.methods)
            }
            try expectBody(head, resource)
        } catch { refuse(error) }
    }

    /// Finds out who asks. A check of health needs no token, nor does what a browser asks before a page's request.
    private func identify() throws(RequestFailure) {
        if head.path.elementsEqual("/health".utf8) || head.method == .options {
            isAnonymous = true
            identity = Identity(caller.peer, right: .none)
            return
        }
        if server.rules.tokens == nil { return }
        // Connect's clients expect errors in their own form.
        connect = ConnectForm(head)
        do throws(RPCError) {
            identity = try server.rules.identity(
                authorization: head[.authorization], query: head.tokens, caller.identity)
        } catch {
            var failure = RequestFailure(.unauthorized, error.message)
            failure.isOfToken = head.has(.authorization) || !head.tokens.isEmpty
            throw failure
        }
        connect = nil
    }

    /// Rejects a request before its body has been read. A short body is read and discarded; otherwise the
    /// connection closes.
    func refuse(_ failure: RequestFailure) {
        if case .messages(let stream) = body { stream.close() }
        body = .discarded
        guard let count = head.contentLength, count <= Self.skippedBody else {
            return respond(failure, closes: true)
        }
        // A client that waits for "100 Continue" may omit its body.
        respond(failure, closes: count > 0 && head.has(.expect))
    }

    private static let skippedBody = 64 << 10

    /// Throws unless the request is meant for this server and comes from a page that may send requests.
    private func admit(_ head: RequestHead) throws(RequestFailure) {
        let host = head.host.flatMap { HostName($0) }
        if !channel.isOverUnix, let text = head.host {
            guard let host else { throw RequestFailure.malformed("The request's Host is malformed.") }
            guard server.rules.hosts.admits(host) else {
                throw RequestFailure(
                    .misdirectedRequest,
                    "The host \(text) is not served here. The administrator of clusterd can add it to http.hosts.")
            }
        }
        switch server.rules.origins.verdict(head[.origin], host: host) {
        case .own: break
        case .allowed(let value): allowedOrigin = value
        case .refused:
            throw RequestFailure(
                .forbidden,
                "Pages of the origin \(head[.origin] ?? "") may not ask here. The administrator of clusterd can add it to http.origins."
            )
        }
        guard
            head.has(.origin)
                || server.rules.origins.admits(site: head[.fetchSite], mode: head[.fetchMode], path: head.path)
        else {
            throw RequestFailure(
                .forbidden,
                "A page of another site asked without naming its origin, as images, scripts and links do. Let it use CORS (fetch, or the attribute crossorigin) from an origin in http.origins."
            )
        }
        if let expectation = head[.expect], expectation.lowercased() != "100-continue" {
            throw RequestFailure(.expectationFailed, "The only supported Expect is 100-continue.")
        }
    }

    /// Decides what to do with the body, before any of it is read.
    private func expectBody(_ head: RequestHead, _ resource: Resource) throws(RequestFailure) {
        switch (resource, head.method) {
        case (.features(let source), .put): try beginImport(head, source)
        case (.method(let name), .post):
            if let form = ConnectForm(head) { return try beginConnect(name, form) }
            try checkMethod(name, head)
            try limitBody(head)
            body = .collected([])
        default: try limitBody(head)
        }
        guard head.hasBody, !head.isVersion10, head.has(.expect), isAnswered == false else {
            return
        }
        channel.sendContinue()
    }

    func limitBody(_ head: RequestHead) throws(RequestFailure) {
        let most = server.rules.settings.limits.maxBodyBytes
        channel.limitBody(to: most)
        guard head.contentLength ?? 0 <= most else { throw largeBody }
    }

    private var largeBody: RequestFailure {
        let most = server.rules.settings.limits.maxBodyBytes
        return RequestFailure(.contentTooLarge, "The request's body is larger than the limit of \(most) bytes.")
    }

    /// The body turned out to be larger than its limit.
    package func refuseLargeBody() {
        call?.cancel()
        call = nil
        respond(largeBody, closes: true)
    }

    // MARK: Bodies

    package func takeBody(_ piece: [UInt8]) {
        switch body {
        case .collected(var bytes):
            body = .discarded
            bytes += piece
            body = .collected(bytes)
            hold(piece.count)
        case .streamed: call?.receive(piece)
        case .messages(let stream): stream.received(piece)
        case .discarded: break
        }
    }

    /// Counts bytes that are held for the client, and rejects the request if there are too many.
    private func hold(_ count: Int) {
        let engine = server.engine
        holdBody(count)
        guard engine.load.input.isExceeded(by: caller.share, limit: engine.limits.maxInputBytes) else {
            return
        }
        respond(
            RequestFailure(
                RPCError(.resourceExhausted, "The server holds too many bytes of unfinished requests. Try again soon.")),
            closes: true)
        channel.end()
    }

    /// The request is complete.
    package func endBody() {
        inputEnded = true
        // A stream in both directions is answered before its client ends.
        if isAnswered, case .messages(let stream) = body { return stream.inputEnded() }
        guard !isAnswered, let resource else { return }
        if head.method == .options { return answerOptions(resource) }
        do throws(RequestFailure) { try answer(resource) } catch { respond(error) }
    }

    private func answer(_ resource: Resource) throws(RequestFailure) {
        let query = head.query
        switch resource {
        case .map: try answerMap()
        case .asset(let name): try answerAsset(name)
        case .ground(let place):
            try readParameters(query, [])
            try answerGround(place)
        case .archive(let names): try answerArchive(names)
        case .health:
            try readParameters(query, [])
            answerHealth()
        case .metrics:
            try readParameters(query, [])
            answerMetrics()
        case .query(let resource, let params, let text): try ask(resource, params, text)
        case .tileJSON(let source): try askTileJSON(source)
        case .watch(let source): try watch(source)
        case .features where head.method == .put: call?.endInput()
        case .features(let source): try ask(.features, ["source": .string(source)], [])
        case .method(let name) where head.method != .post: try callByConnectQuery(name)
        case .method(let name): try call(name)
        case .server: break
        }
    }

    func readParameters(_ query: ArraySlice<UInt8>?, _ known: [ParamDeclaration]) throws(RequestFailure) {
        var params = JSONObject()
        try QueryParameters.read(query, known: known, into: &params)
    }

    // MARK: Imports

    private static let importTypes = [
        "application/geo+json", "application/json", "application/geo+json-seq", "application/x-ndjson", "text/csv",
        "text/tab-separated-values",
    ]

    private func beginImport(_ head: RequestHead, _ source: String) throws(RequestFailure) {
        var params: JSONObject = ["source": .string(source)]
        try QueryParameters.read(head.query, known: ResourceQuery.importedFeatures.known, into: &params)
        let type = head[.contentType].map(Negotiation.mediaType) ?? ""
        guard type.isEmpty || Self.importTypes.contains(type) else {
            throw RequestFailure(
                .unsupportedMediaType,
                "The Content-Type \(type) cannot be imported. Use one of \(Self.importTypes.joined(separator: ", ")).")
        }
        guard ["", "identity", "gzip", "x-gzip"].contains((head[.contentEncoding] ?? "").lowercased()) else {
            throw RequestFailure(.unsupportedMediaType, "The only supported Content-Encoding is gzip.")
        }
        body = .streamed
        open(MethodDeclaration.importFeatures.fullName, params, AnswerPlan(), input: .bytes(mediaType: type))
    }

    // MARK: Calls by POST

    /// Throws if a method cannot be called, before the body is read.
    private func checkMethod(_ name: String, _ head: RequestHead) throws(RequestFailure) {
        try readParameters(head.query, [])
        guard let declaration = server.engine.methods[name]?.declaration else {
            throw RequestFailure(
                RPCError(.unimplemented, "There is no method \"\(name)\". GetServerInfo lists the methods."))
        }
        guard declaration.kind == .unary || hasColumns(name) else {
            throw RequestFailure(RPCError(.unimplemented, Self.streamingAdvice(declaration)))
        }
        guard identity.right >= declaration.right else {
            throw RequestFailure(identity.denial(of: declaration))
        }
        guard head[.contentType].map(Negotiation.mediaType) == "application/json" else {
            throw RequestFailure(.unsupportedMediaType, "The Content-Type must be application/json.")
        }
        guard ["", "identity"].contains((head[.contentEncoding] ?? "").lowercased()) else {
            throw RequestFailure(.unsupportedMediaType, "The body must not be compressed.")
        }
    }

    private static func streamingAdvice(_ method: MethodDeclaration) -> String {
        let instead =
            switch method.name {
            case "WatchClusters":
                "GET /sources/S/watch, as a WebSocket or for text/event-stream, watches a viewport."
            case "ImportFeatures": "PUT /sources/S/features imports features."
            case "GetFeatures": "GET /sources/S/features reads features."
            default: "Call it over the Unix socket."
            }
        return "\(method.shortName) streams, which POST does not. \(instead)"
    }

    private func call(_ name: String) throws(RequestFailure) {
        if case .messages(let stream) = body { return stream.inputEnded() }
        guard case .collected(let body) = body else { return }
        self.body = .discarded
        if let connect { return try callByConnect(name, connect, body) }
        guard body.count >= LargeMessage.leastBytes else {
            return try open(name, try Self.params(body), of: body)
        }
        // The body is read on the pool, so that the loop's other connections do not wait for it.
        caller.readOnPool(taking: body.count * LargeMessage.memoryPerByte) {
            Result { () throws(RequestFailure) in try Self.params(body) }
        } completion: { [weak self] params in
            guard let self, isServing else { return }
            do throws(RequestFailure) { try open(name, try params.get(), of: body) } catch { respond(error) }
            channel.goOn()
        }
    }

    /// Whether the client asks for a method's answer in columns, and there is one.
    private func hasColumns(_ name: String) -> Bool {
        ResourceQuery.withColumns.contains { $0.method.fullName == name } && prefersColumns
    }

    private func open(_ name: String, _ params: JSONObject, of body: [UInt8]) throws(RequestFailure) {
        var params = params
        var form = AnswerForm.json
        let textParams = server.engine.methods[name]?.declaration.textParams ?? []
        let keepsText = textParams.contains { params[$0.name] != nil }
        var plan = AnswerPlan()
        plan.acceptsGzip = acceptsGzip
        let resource = ResourceQuery.withColumns.first { $0.method.fullName == name }
        if prefersColumns, let resource, let columns = try columns(&params, of: resource) {
            form = columns
            plan.mediaType = ResourceQuery.columnType
            plan.isStreamed = true
        }
        open(name, params, plan, form: form, paramsText: keepsText ? body : [], paramsBytes: body.count)
    }

    private static func params(_ body: [UInt8]) throws(RequestFailure) -> JSONObject {
        if body.isEmpty { return JSONObject() }
        guard !LargeMessage.hasTooManyValues(body.span) else {
            throw RequestFailure(
                .contentTooLarge, "The body has more than \(LargeMessage.mostValues) values. Send it in parts.")
        }
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.parse(body) } catch {
            throw RequestFailure(.badRequest, "The body is not JSON: \(error.message)")
        }
        guard case .object(let object) = value else {
            throw RequestFailure(.badRequest, "The body must be a JSON object: the method's params.")
        }
        return object
    }
}
