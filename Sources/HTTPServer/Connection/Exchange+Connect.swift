// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import JSON
import RPC
import Transports
import TypedContract

/// Answers requests of the Connect protocol.
extension Exchange {
    /// Begins a call by POST, before its body is read.
    func beginConnect(_ name: String, _ form: ConnectForm) throws(RequestFailure) {
        connect = form
        try readParameters(head.query, [])
        let method = try typedMethod(name)
        guard head[.connectVersion] ?? "1" == "1" else {
            throw RequestFailure(RPCError(.invalidArgument, "The only version of the Connect protocol is 1."))
        }
        guard (method.clientStreams || method.serverStreams) == form.isStream else {
            throw RequestFailure(
                .unsupportedMediaType,
                form.isStream
                    ? "\(name) does not stream: use application/proto or application/json."
                    : "\(name) streams: use application/connect+proto or application/connect+json.")
        }
        guard !method.clientStreams || !method.serverStreams || !channel.takesWebSockets else {
            throw RequestFailure(.versionNotSupported, "\(name) streams in both directions, which needs HTTP/2.")
        }
        do throws(RPCError) { _ = try timeout() } catch { throw RequestFailure(error) }
        guard form.isStream else {
            _ = try compression(head[.contentEncoding])
            try limitBody(head)
            body = .collected([])
            return
        }
        let stream = ConnectStream(method, form, of: self)
        body = .messages(stream)
        guard method.serverStreams else { return }
        var response = ResponseHead(
            status: .ok, length: head.isVersion10 ? .untilClose : .chunked, mediaType: form.mediaType)
        response.cacheControl = "no-store"
        response.fields = stream.fields
        watch = (.messages, response)
    }

    private func typedMethod(_ name: String) throws(RequestFailure) -> TypedMethod {
        guard let method = TypedMethod.named(name), let declaration = server.engine.methods[name]?.declaration else {
            throw RequestFailure(
                RPCError(.unimplemented, "There is no method \"\(name)\". GetServerInfo lists the methods."))
        }
        guard identity.right >= declaration.right else {
            throw RequestFailure(identity.denial(of: declaration))
        }
        return method
    }

    /// What a message is compressed with; nil: nothing.
    private func compression(_ name: String?) throws(RequestFailure) -> InflateStream.Format? {
        let encoding = MessageInput.Encoding((name ?? "").lowercased())
        guard case .unknown(let name) = encoding else { return encoding.format }
        throw RequestFailure(
            RPCError(
                .unimplemented, "The encoding \(name) is not supported. Use one of \(MessageInput.Encoding.names)."))
    }

    /// Answers a unary call whose body is complete.
    func callByConnect(_ name: String, _ form: ConnectForm, _ body: [UInt8]) throws(RequestFailure) {
        let method = try typedMethod(name)
        try answer(ConnectMessage(body, compression(head[.contentEncoding]), form, method, limit: mostMessage))
    }

    /// Answers a unary call by GET.
    func callByConnectQuery(_ name: String) throws(RequestFailure) {
        connect = ConnectForm(isStream: false, isJSON: true)
        let query = try ConnectQuery(head.query)
        connect = query.form
        let method = try typedMethod(name)
        try answer(
            ConnectMessage(query.message, compression(query.encoding), query.form, method, limit: mostMessage),
            tagged: EntityTag.hash(head.target))
    }

    private var mostMessage: Int { server.engine.limits.maxMessageBytes }

    private func answer(_ message: ConnectMessage, tagged: UInt64? = nil) throws(RequestFailure) {
        let (method, form) = (message.method, message.form)
        guard message.isLarge else {
            let (part, size) = try message.read()
            return try answer(method, form, part, size: size, tagged: tagged)
        }
        // The message is read on the pool, so that the loop's other connections do not wait for it.
        caller.readOnPool(taking: message.mostBytes * LargeMessage.memoryPerByte) {
            Result { () throws(RequestFailure) in try message.read() }
        } completion: { [weak self] result in
            guard let self, isServing else { return }
            do throws(RequestFailure) {
                let (part, size) = try result.get()
                try answer(method, form, part, size: size, tagged: tagged)
            } catch { respond(error) }
            channel.goOn()
        }
    }

    /// - Parameter size: the message's, in bytes.
    private func answer(
        _ method: TypedMethod, _ form: ConnectForm, _ part: ClientPart, size: Int, tagged: UInt64? = nil
    ) throws(RequestFailure) {
        guard case .open(let params, let text, let structProperties) = part else { return }
        var plan = AnswerPlan()
        plan.mediaType = form.mediaType
        plan.acceptsGzip = acceptsGzip
        plan.variation = .encoding
        let encoder = TypedAnswerEncoder(
            method, of: server.engine.methods, structProperties: structProperties, isJSON: form.isJSON, .none,
            compression: plan.acceptsGzip ? .gzip : nil)
        open(method.fullName, params, plan, typed: encoder, tagged: tagged, paramsText: text, paramsBytes: size)
    }
}

/// The message of a unary call, as sent. Safe from any thread.
struct ConnectMessage: Sendable {
    private let bytes: [UInt8]
    private let compression: InflateStream.Format?
    let form: ConnectForm
    let method: TypedMethod
    private let limit: Int

    init(
        _ bytes: [UInt8], _ compression: InflateStream.Format?, _ form: ConnectForm, _ method: TypedMethod, limit: Int
    ) {
        (self.bytes, self.compression, self.form) = (bytes, compression, form)
        (self.method, self.limit) = (method, limit)
    }

    /// Whether reading it takes long.
    var isLarge: Bool { bytes.count >= (compression == nil ? LargeMessage.leastBytes : 1 << 10) }

    /// The most bytes that it inflates to.
    var mostBytes: Int { compression == nil ? bytes.count : min(limit, 1032 * bytes.count) }

    /// What the message is, and its size in bytes.
    func read() throws(RequestFailure) -> (part: ClientPart, size: Int) {
        var message = bytes
        if let compression {
            do throws(CompressionError) {
                message = try Zlib.inflate(bytes, format: compression, limit: limit)
            } catch {
                throw RequestFailure(RPCError(.invalidArgument, "The body does not inflate: \(error.message)."))
            }
        }
        guard !LargeMessage.hasTooManyValues(message.span) else {
            throw RequestFailure(
                .contentTooLarge, "The body has more than \(LargeMessage.mostValues) values. Send it in parts.")
        }
        let size = message.count
        do throws(RPCError) {
            if form.isJSON { message = try method.protobuf(fromJSON: message.span) }
            return (try method.read(message.span), size)
        } catch { throw RequestFailure(error) }
    }
}
