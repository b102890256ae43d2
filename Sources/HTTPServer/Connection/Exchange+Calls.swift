// SPDX-License-Identifier: MIT
import RPC
import ClusterProtocol
import EventLoop
import JSON
import Transports
import Synchronization

/// Answers requests by calls.
extension Exchange {
    var acceptsGzip: Bool { Negotiation.acceptsGzip(head[.acceptEncoding]) }

    /// Answers a request for a query resource.
    func ask(_ resource: ResourceQuery, _ fixed: JSONObject, _ text: [UInt8]) throws(RequestFailure) {
        var params = fixed
        let known = resource.addsInclude ? resource.known + [ResourceQuery.include] : resource.known
        let exact = try QueryParameters.read(head.query, known: known, into: &params)
        let columns = resource.hasColumns ? try columns(&params, of: resource) : nil
        if resource.takesViewport, params["bbox"] == nil { params["bbox"] = Self.world }
        var plan = resource.plan
        plan.acceptsGzip = acceptsGzip
        var tag = EntityTag.hash(head.target)
        if columns != nil {
            plan.mediaType = ResourceQuery.columnType
            plan.isStreamed = true
            tag = EntityTag.hash("\(ResourceQuery.columnType)".utf8, from: tag)
        }
        open(
            resource.method.fullName, params, plan,
            form: columns ?? (resource.isRaw ? .raw : resource.isDocument ? .document : .json),
            tagged: resource.dependsOnData ? tag : nil, paramsText: text.isEmpty ? exact : text)
    }

    /// Whether the client prefers columns.
    var prefersColumns: Bool {
        Negotiation.prefers("\(ResourceQuery.columnType)", to: ResourceQuery.usualTypes, in: head[.accept])
    }

    /// Takes the column of points, which is not among the calls' words, out of the params.
    ///
    /// - Returns: the form of the answer if the client prefers columns.
    func columns(_ params: inout JSONObject, of resource: ResourceQuery) throws(RequestFailure) -> AnswerForm? {
        var geometry = false
        let name = ResourceQuery.include.name
        if case .array(let words)? = params[name] {
            let others = words.filter { $0 != .string(ResourceQuery.geometryWord) }
            geometry = others.count < words.count
            guard !resource.addsInclude || others.isEmpty else {
                throw RequestFailure(
                    .badRequest, "The parameter \"\(name)\" must be \"\(ResourceQuery.geometryWord)\" here.")
            }
            params[name] = others.isEmpty ? nil : .array(others)
        }
        return prefersColumns ? .columns(geometry: geometry) : nil
    }

    /// Answers with the TileJSON of a source. Its URLs name this daemon as the client does.
    func askTileJSON(_ source: String) throws(RequestFailure) {
        var params: JSONObject = ["source": .string(source)]
        try QueryParameters.read(head.query, known: ResourceQuery.tileJSON.known, into: &params)
        let site = "\(scheme(head))://\(head.host ?? "localhost")"
        var url = "\(site)/sources/\(PercentEncoding.encode(source))/tiles/{z}/{x}/{y}.mvt"
        var query = params["filter"].map { ["filter=\(PercentEncoding.encode($0.text))"] } ?? []
        // A map that was given a token in its URL needs it for the tiles too.
        query += head.tokens.map { "access_token=\(PercentEncoding.encode($0))" }
        if !query.isEmpty { url += "?\(query.joined(separator: "&"))" }
        params["tiles"] = .string(url)
        var plan = AnswerPlan()
        plan.acceptsGzip = acceptsGzip
        plan.variation = .encodingAndProtocol
        // Cached, because computing it examines all features.
        plan.isKept = true
        open(
            MethodDeclaration.describeTiles.fullName, params, plan,
            tagged: EntityTag.hash(head.target, from: EntityTag.hash(url.utf8)))
    }

    /// The scheme that the client used, as reported by a proxy in front of this daemon, if there is one.
    func scheme(_ head: RequestHead) -> String {
        // Each proxy of a chain may add its own; the client's comes first.
        let first = head[.forwardedProtocol]?.split(separator: ",").first
        return first?.trimmingSpaces.lowercased() == "https" ? "https" : "http"
    }

    /// A box that contains a whole source: larger than the world, so that it also covers a plane in its own units.
    static let world = JSONValue.array([-1e15, -1e15, 1e15, 1e15].map { .number($0) })

    /// Opens a call, unless the client or the cache already has the answer.
    ///
    /// - Parameter tagged: a hash of the request, if the answer depends only on it and the data.
    func open(
        _ method: String, _ params: JSONObject, _ plan: AnswerPlan, form: AnswerForm = .json,
        typed: TypedAnswerEncoder? = nil, input: InputForm = .items, tagged: UInt64? = nil, paramsText: [UInt8] = [],
        paramsBytes: Int = 0
    ) {
        var request = CallRequest(id: channel.makeCallID(), method: method, params: params, paramsBytes: paramsBytes)
        request.paramsText = paramsText
        request.memoryBytes = paramsBytes * LargeMessage.memoryPerByte
        var plan = plan
        do throws(RPCError) {
            request.timeoutMilliseconds = try timeout()
            let encoder: any AnswerEncoder =
                if let typed {
                    typed
                } else if plan.isStreamed {
                    PartEncoder(form: form, compresses: plan.acceptsGzip)
                } else {
                    PlainEncoder(form: form, compresses: plan.acceptsGzip, level: plan.isKept ? 6 : 1)
                }
            let prepared = try caller.prepare(request, by: currentIdentity(), as: encoder, input: input)
            plan.part = prepared.part
            // All empty sources have revision 0, whatever their options.
            if let tagged, let revision = prepared.revision, revision > 0 {
                let tag = EntityTag(
                    process: server.service.process, revision: revision,
                    request: EntityTag.hash(part: plan.part, from: tagged))
                plan.tag = tag
                if requiresOther(than: tag) {
                    caller.dismiss(prepared)
                    return respond(
                        RequestFailure(
                            .preconditionFailed,
                            "The answer is not the one that If-Match names: the data have changed."))
                }
                if answerWithoutWork(tag, plan) { return caller.dismiss(prepared) }
            }
            answer = plan
            start(prepared)
        } catch { fail(error) }
    }

    private func start(_ prepared: PendingCall) {
        do throws(RPCError) {
            if let call = try caller.start(prepared, into: &server.answer) {
                self.call = call
                return
            }
            server.answer.withBytes { finish($0, nil) }
            server.shrink(&server.answer)
        } catch {
            server.shrink(&server.answer)
            fail(error)
        }
    }

    /// A call has failed, perhaps before its body was read.
    func fail(_ error: RPCError) {
        // A response that has begun can only be cut off.
        if parts != nil { return channel.close() }
        if inputEnded == false {
            refuse(RequestFailure(error))
        } else {
            respond(RequestFailure(error))
        }
    }

    /// The client's deadline, in milliseconds; nil if there is none.
    func timeout() throws(RPCError) -> Int64? {
        guard let text = head[.connectTimeout] else { return nil }
        guard text.utf8.count <= 10, let milliseconds = Int64(text), milliseconds >= 0 else {
            throw RPCError(
                .invalidArgument, "Connect-Timeout-Ms must be a number of milliseconds of at most ten digits.")
        }
        return milliseconds
    }

    /// Answers with 304 or from the cache; returns false if neither is possible.
    private func answerWithoutWork(_ tag: EntityTag, _ plan: AnswerPlan) -> Bool {
        if let match = head.first(.ifNoneMatch, tag.match), !matchesAllAnswers {
            respondNotModified(tag, match, plan)
            return true
        }
        guard plan.isKept, !matchesAllAnswers,
            let entry = server.service.cache.entry(head.target, part: plan.part, acceptsGzip: plan.acceptsGzip, tag)
        else {
            return false
        }
        server.service.counters.tileHits.add(1, ordering: .relaxed)
        answer = plan
        let body = entry.body
        respond(body.span, keeping: entry, isGzipped: entry.isGzipped)
        return true
    }

    /// Whether the client wants only an answer that it knows, by `If-Match`, and this is another.
    private func requiresOther(than tag: EntityTag) -> Bool {
        guard head.has(.ifMatch) else { return false }
        return head.first(.ifMatch) { tag.isNamed(byIfMatch: $0) ? true : nil } == nil
    }

    /// Whether the client only asks if there is an answer, by `If-None-Match: *`. A tag does not show that: the call
    /// may fail (RFC 9110, section 13.2.1).
    var matchesAllAnswers: Bool {
        head.first(.ifNoneMatch) { EntityTag.matchesAll($0) ? true : nil } ?? false
    }

    /// Sends a call's answer as the response.
    func finish(_ bytes: Span<UInt8>, _ owner: OutgoingBytes?) {
        if isStreamed, connect == nil { return finishParts(bytes, owner) }
        guard !TypedAnswerEncoder.hasFailed(bytes) else { return fail(TypedAnswerEncoder.failureError) }
        if let tag = answer.tag, matchesAllAnswers {
            return respondNotModified(tag, .plain, answer)
        }
        let isGzipped = answer.acceptsGzip && Gzip.isCompressed(bytes)
        if answer.isKept, let tag = answer.tag {
            let entry = AnswerCache.Entry(tag: tag, isGzipped: isGzipped, body: Array(copying: bytes))
            server.service.cache.keep(entry, head.target, part: answer.part, acceptsGzip: answer.acceptsGzip)
        }
        respond(bytes, keeping: owner, isGzipped: isGzipped)
    }
}
