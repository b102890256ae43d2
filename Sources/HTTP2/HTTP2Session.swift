// SPDX-License-Identifier: MIT
import CNGHTTP2
import JSON

/// One side of an HTTP/2 connection, by libnghttp2: frames, header compression, flow control and the rules of
/// RFC 9113. Bytes go in, events and bytes come out; it knows no socket and no clock. Belongs to the loop's thread.
///
/// Invariant: `raw` belongs to this object from `init` to `deinit`. The library calls back only during `receive` and
/// `fill`, which keep this object alive; pointers that it passes are used only during the callback.
package final class HTTP2Session {
    private var raw: OpaquePointer?
    /// It owns this session. Not weak, because that would slow down every other reference to it.
    private unowned var owner: (any HTTP2SessionOwner)?
    /// Where `fill` writes, while it runs.
    private var output: UnsafeMutablePointer<ByteWriter>?
    private var hasSentSettings = false
    private let settings: Settings

    package struct Settings {
        var isClient: Bool
        /// The most streams that the other side may have open at once.
        var streams: Int
        /// The most bytes of a head's fields, each counted with 32 bytes more (RFC 9113, section 6.5.2).
        var headBytes: Int

        package static func server(streams: Int, headBytes: Int) -> Settings {
            Settings(isClient: false, streams: streams, headBytes: headBytes)
        }

        package static let client = Settings(isClient: true, streams: 0, headBytes: 64 << 10)

        /// The bytes that the other side may send on a stream, and on all streams, before some are taken.
        static let streamWindow: Int32 = 1 << 20
        static let connectionWindow: Int32 = 4 << 20
    }

    package init(_ settings: Settings) {
        self.settings = settings
        hasSentSettings = settings.isClient
        var session: OpaquePointer?
        let user = Unmanaged.passUnretained(self).toOpaque()
        let isMade =
            settings.isClient
            ? nghttp2_session_client_new2(&session, Self.callbacks, user, Self.options)
            : nghttp2_session_server_new2(&session, Self.callbacks, user, Self.options)
        guard isMade == 0 else { return }
        raw = session
        let entries = [
            // The library would end a connection that exceeds the number; here the stream is refused instead.
            // So the library gets no limit, and `fill` writes the limit into the frame.
            entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.isClient ? 0 : UInt32(Int32.max)),
            entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: settings.headBytes)),
            entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(Settings.streamWindow)),
            entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
        ]
        nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
        nghttp2_session_set_local_window_size(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Settings.connectionWindow)
    }

    deinit { nghttp2_session_del(raw) }

    private func entry(_ id: nghttp2_settings_id, _ value: UInt32) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(bitPattern: id.rawValue), value: value)
    }

    package func setOwner(_ owner: any HTTP2SessionOwner) { self.owner = owner }

    // MARK: Input

    /// Processes bytes from the client. Returns false if the connection must end; the frames that say why are still to
    /// be written.
    package func receive(_ bytes: Span<UInt8>) -> Bool {
        guard let raw else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            let taken = withExtendedLifetime(self) { nghttp2_session_mem_recv(raw, bytes.baseAddress, bytes.count) }
            return taken == bytes.count
        }
    }

    /// Whether the session waits for bytes of the client.
    package var wantsInput: Bool { nghttp2_session_want_read(raw) != 0 }
    /// Whether it has bytes for the client that its window allows.
    package var wantsOutput: Bool { nghttp2_session_want_write(raw) != 0 }

    /// Lets the client send more on all streams together.
    package func giveBack(_ count: Int) { nghttp2_session_consume_connection(raw, count) }
    /// Lets the client send more on a stream.
    package func giveBack(_ count: Int, on stream: Int32) { nghttp2_session_consume_stream(raw, stream, count) }

    // MARK: Output

    /// Writes frames into `bytes` until there are none, or `most` bytes are exceeded.
    package func fill(_ bytes: inout ByteWriter, most: Int) {
        guard let raw else { return }
        withUnsafeMutablePointer(to: &bytes) { bytes in
            output = bytes
            defer { output = nil }
            while bytes.pointee.count < most {
                var data: UnsafePointer<UInt8>?
                let count = nghttp2_session_mem_send(raw, &data)
                guard count > 0, let data else { return }
                append(UnsafeBufferPointer(start: data, count: count), to: &bytes.pointee)
            }
        }
    }

    private func append(_ frame: UnsafeBufferPointer<UInt8>, to bytes: inout ByteWriter) {
        guard !hasSentSettings else { return bytes.append(contentsOf: UnsafeRawBufferPointer(frame)) }
        hasSentSettings = true
        // The value of the first setting, after the frame's head of nine bytes and the setting's number of two.
        var first = Array(frame)
        guard first.count >= 15 else { return }
        for (index, shift) in zip(11..<15, [24, 16, 8, 0]) {
            first[index] = UInt8(truncatingIfNeeded: UInt32(clamping: settings.streams) >> UInt32(shift))
        }
        bytes.append(contentsOf: first)
    }

    /// Begins a response.
    ///
    /// - Parameter hasBody: whether the owner is asked for a body; without one, the head ends the stream.
    package func respond(_ head: HeaderBlock, on stream: Int32, hasBody: Bool) {
        var body = Self.bodyProvider
        withFields(head) { fields, count in
            guard hasBody else { return nghttp2_submit_response(raw, stream, fields, count, nil) }
            return nghttp2_submit_response(raw, stream, fields, count, &body)
        }
    }

    /// There is more of a body whose owner had nothing to send.
    package func resume(_ stream: Int32) { nghttp2_session_resume_data(raw, stream) }

    /// Ends a stream at once.
    package func reset(_ stream: Int32, _ code: HTTP2Error) {
        nghttp2_submit_rst_stream(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code.rawValue)
    }

    /// Ends the connection after a frame that says why.
    package func terminate(_ code: HTTP2Error) { nghttp2_session_terminate_session(raw, code.rawValue) }

    /// Tells the client that the connection will end, and asks whether it knows.
    package func announceEnd() {
        nghttp2_submit_shutdown_notice(raw)
        nghttp2_submit_ping(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Tells the client which streams are still answered: those that have begun.
    package func refuseFurtherStreams() {
        let last = nghttp2_session_get_last_proc_stream_id(raw)
        nghttp2_submit_goaway(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2Error.none.rawValue, nil, 0)
    }

    private static var bodyProvider: nghttp2_data_provider {
        var body = nghttp2_data_provider()
        body.read_callback = { session, stream, _, length, flags, _, user in
            HTTP2Session.of(user)?.readBody(stream, length, flags) ?? Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        return body
    }

    private func readBody(_ stream: Int32, _ length: Int, _ flags: UnsafeMutablePointer<UInt32>?) -> Int {
        guard let part = owner?.bodyPart(of: stream, most: length) else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        if part.count == 0, !part.isLast { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        flags?.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
        guard part.isLast else { return part.count }
        flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        if let trailers = part.trailers {
            flags?.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
            withFields(trailers) { nghttp2_submit_trailer(raw, stream, $0, $1) }
        }
        return part.count
    }

    /// Begins a request, whose body the owner is asked for. Returns its stream; nil if there can be no more.
    package func request(_ head: HeaderBlock) -> Int32? {
        var body = Self.bodyProvider
        var stream: Int32 = -1
        withFields(head) { fields, count in
            stream = nghttp2_submit_request(raw, nil, fields, count, &body, nil)
            return 0
        }
        return stream > 0 ? stream : nil
    }

    private func withFields(_ block: HeaderBlock, _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Int32) {
        block.bytes.withUnsafeBufferPointer { bytes in
            guard let start = UnsafeMutablePointer(mutating: bytes.baseAddress) else { return }
            var fields: [nghttp2_nv] = []
            fields.reserveCapacity(block.ends.count)
            var from = 0
            for (name, value) in block.ends {
                fields.append(
                    nghttp2_nv(
                        name: start + from, value: start + name, namelen: name - from, valuelen: value - name,
                        flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                from = value
            }
            _ = body(fields, fields.count)
        }
    }

    // MARK: The library's callbacks

    private static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2Session? {
        user.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    /// They are written once, before the first session, and only read after that: `nonisolated(unsafe)` is sound.
    nonisolated(unsafe) private static let options: OpaquePointer? = {
        var options: OpaquePointer?
        nghttp2_option_new(&options)
        // Bytes are given back as calls take them.
        nghttp2_option_set_no_auto_window_update(options, 1)
        nghttp2_option_set_no_closed_streams(options, 1)
        nghttp2_option_set_stream_reset_rate_limit(options, 1000, 100)
        return options
    }()

    nonisolated(unsafe) private static let callbacks: OpaquePointer? = {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
            guard let frame else { return 0 }
            if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
                HTTP2Session.of(user)?.owner?.began(frame.pointee.hd.stream_id)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, count, _, user in
            // A request's trailers mean nothing; a response's have its status.
            guard let frame, let session = HTTP2Session.of(user),
                session.settings.isClient || frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
            else { return 0 }
            let name = Span(_unsafeElements: UnsafeBufferPointer(start: name, count: nameCount))
            let value = Span(_unsafeElements: UnsafeBufferPointer(start: value, count: count))
            session.owner?.received(field: name, value, on: frame.pointee.hd.stream_id)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
            if let frame { HTTP2Session.of(user)?.received(frame.pointee) }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, data, count, user in
            let data = Span(_unsafeElements: UnsafeBufferPointer(start: data, count: count))
            HTTP2Session.of(user)?.owner?.received(data, on: stream)
            return 0
        }
        nghttp2_session_callbacks_set_send_data_callback(callbacks) { _, frame, head, length, _, user in
            guard let frame, let head, let session = HTTP2Session.of(user), let output = session.output else {
                return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
            }
            output.pointee.append(contentsOf: UnsafeRawBufferPointer(start: head, count: 9))
            session.owner?.writeBody(of: frame.pointee.hd.stream_id, length, into: &output.pointee)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, user in
            if let frame, frame.pointee.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
                frame.pointee.hd.type == NGHTTP2_HEADERS.rawValue || frame.pointee.hd.type == NGHTTP2_DATA.rawValue
            {
                HTTP2Session.of(user)?.owner?.ended(frame.pointee.hd.stream_id)
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, user in
            HTTP2Session.of(user)?.owner?.closed(stream)
            return 0
        }
        return callbacks
    }()

    private func received(_ frame: nghttp2_frame) {
        let (type, flags, stream) = (frame.hd.type, frame.hd.flags, frame.hd.stream_id)
        let isEnd = flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch UInt32(type) {
        case NGHTTP2_HEADERS.rawValue:
            if frame.headers.cat == NGHTTP2_HCAT_REQUEST { owner?.headEnded(stream, isEnd: isEnd) }
            if isEnd { owner?.inputEnded(stream) }
        case NGHTTP2_DATA.rawValue:
            if isEnd { owner?.inputEnded(stream) } else if frame.hd.length == 0 { owner?.receivedIdleFrame() }
        case NGHTTP2_PING.rawValue where flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0: owner?.pingWasAnswered()
        case NGHTTP2_PING.rawValue, NGHTTP2_SETTINGS.rawValue, NGHTTP2_PRIORITY.rawValue: owner?.receivedIdleFrame()
        case NGHTTP2_RST_STREAM.rawValue: owner?.receivedReset()
        default: break
        }
    }
}

/// Why a stream or a connection ends (RFC 9113, section 7).
package enum HTTP2Error: UInt32 {
    case none = 0x0
    case internalError = 0x2
    case refusedStream = 0x7
    case enhanceYourCalm = 0xB
}

/// What a session reports, and asks for. Called while the session receives or writes; nothing of the session but
/// submissions may be called then.
package protocol HTTP2SessionOwner: AnyObject {
    func began(_ stream: Int32)
    func received(field name: Span<UInt8>, _ value: Span<UInt8>, on stream: Int32)
    /// A request's head is complete.
    ///
    /// - Parameter isEnd: whether the client sends nothing more on the stream.
    func headEnded(_ stream: Int32, isEnd: Bool)
    func received(_ data: Span<UInt8>, on stream: Int32)
    /// The client sends nothing more on a stream.
    func inputEnded(_ stream: Int32)
    /// The last frame of a stream was written.
    func ended(_ stream: Int32)
    /// A stream is over, whoever ended it.
    func closed(_ stream: Int32)
    /// The client has reset a stream.
    func receivedReset()
    /// A frame has arrived that asks for nothing to be done: many of them are an attack.
    func receivedIdleFrame()
    func pingWasAnswered()
    /// How much of a stream's body can be written now.
    func bodyPart(of stream: Int32, most: Int) -> BodyPart
    /// Writes that many bytes of a stream's body.
    func writeBody(of stream: Int32, _ count: Int, into bytes: inout ByteWriter)
}

/// The next part of a body.
package struct BodyPart {
    let count: Int
    /// Whether the body ends with it.
    let isLast: Bool
    let trailers: HeaderBlock?

    package init(count: Int, isLast: Bool, trailers: HeaderBlock? = nil) {
        (self.count, self.isLast, self.trailers) = (count, isLast, trailers)
    }
}
