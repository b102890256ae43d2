// SPDX-License-Identifier: MIT
import CWslay
import JSON

/// The server's side of a WebSocket, based on libwslay. Bytes go in, messages come out; it knows no socket and no
/// clock. The library answers pings and closes, checks masks, UTF-8 and fragments, and stops reading at the first
/// fault.
///
/// The library's context takes 8 KiB. It exists only while a message is in progress, so that idle WebSockets use
/// little memory.
///
/// Invariant: `context` belongs to this object while it is not nil. The library's callbacks run only during
/// `receive`, `close` and `ping`, which keep the object alive; `input` is valid only during `receive`.
final class WebSocketCodec {
    enum Event: Equatable {
        /// A text message.
        case text([UInt8])
        /// A binary message, which no resource accepts.
        case binary
        case pong
        /// The client closes; the answer is already in `output`.
        case closed(code: UInt16)
    }

    private var context: wslay_event_context_ptr?
    private var bounds: WebSocketFrameBounds
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Whether a close frame had a body of one byte, half a code (RFC 6455, section 5.5.1), which the library accepts.
    private var hasHalfCode = false
    private var events: [Event] = []
    /// Control frames to be written: pongs, pings and the close.
    private(set) var output: [UInt8] = []
    /// Whether no more is read: the close was sent, or the client violated the protocol.
    private(set) var isClosing = false

    /// - Parameter maximumMessage: the maximum size of a message in bytes, over all its fragments.
    init(maximumMessage: Int) { bounds = WebSocketFrameBounds(limit: maximumMessage) }

    deinit { wslay_event_context_free(context) }

    /// Makes a context if there is none. If memory is exhausted, the WebSocket ends.
    private func makeContext() -> wslay_event_context_ptr? {
        if let context { return context }
        var callbacks = Self.callbacks
        let user = Unmanaged.passUnretained(self).toOpaque()
        guard wslay_event_context_server_init(&context, &callbacks, user) == 0 else {
            context = nil
            isClosing = true
            return nil
        }
        return context
    }

    /// Frees the context unless it has received part of a message.
    private func rest() {
        guard isClosing || bounds.isBetweenMessages else { return }
        wslay_event_context_free(context)
        context = nil
    }

    private static let callbacks: wslay_event_callbacks = {
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { context, buffer, count, _, user in
            guard let codec = WebSocketCodec.codec(user), let buffer else { return -1 }
            let taken = codec.take(buffer, count)
            if taken == 0 { wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue)) }
            return taken == 0 ? -1 : taken
        }
        callbacks.send_callback = { _, bytes, count, _, user in
            guard let codec = WebSocketCodec.codec(user), let bytes else { return -1 }
            codec.output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            return count
        }
        callbacks.on_msg_recv_callback = { _, message, user in
            guard let codec = WebSocketCodec.codec(user), let message else { return }
            codec.didReceive(message.pointee)
        }
        return callbacks
    }()

    private static func codec(_ user: UnsafeMutableRawPointer?) -> WebSocketCodec? {
        user.map { Unmanaged<WebSocketCodec>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Processes bytes from the client.
    func receive(_ bytes: Span<UInt8>) -> [Event] {
        guard !isClosing, let context = makeContext() else { return [] }
        // A message that is too large is rejected by its declared length.
        let count = bounds.follow(bytes)
        defer {
            events = []
            rest()
        }
        bytes.extracting(..<count).withUnsafeBytes { bytes in
            input = bytes
            let hasFailed = withExtendedLifetime(self) { wslay_event_recv(context) != 0 }
            input = UnsafeRawBufferPointer(start: nil, count: 0)
            flush()
            if hasFailed || hasHalfCode { nameFault() }
        }
        if count < bytes.count {
            close(.messageTooBig, "The message is larger than the limit of \(bounds.limit) bytes.")
        }
        return events
    }

    /// The bytes are not a frame. The library then closes without a code.
    private func nameFault() {
        isClosing = true
        guard output.suffix(2).elementsEqual([0x88, 0]) else { return }
        output[output.count - 1] = 2
        output += [UInt8(Self.protocolError >> 8), UInt8(Self.protocolError & 0xFF)]
    }

    private static let protocolError: UInt16 = 1002

    /// Closes from this side.
    ///
    /// - Parameter reason: truncated to the 123 bytes that fit into a close frame.
    func close(_ code: WebSocketCode, _ reason: String) {
        guard !isClosing, let context = makeContext() else { return }
        isClosing = true
        var text: [UInt8] = []
        for character in reason {
            guard text.count + character.utf8.count <= 123 else { break }
            text += character.utf8
        }
        wslay_event_queue_close(context, code.number, text, text.count)
        flush()
        rest()
    }

    func ping() {
        guard !isClosing, let context = makeContext() else { return }
        var message = wslay_event_msg(opcode: UInt8(WSLAY_PING.rawValue), msg: nil, msg_length: 0)
        wslay_event_queue_msg(context, &message)
        flush()
        rest()
    }

    func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Writes the head of a text message with `count` bytes (RFC 6455, section 5.2); the message follows. Control
    /// frames never come in between, because `output` is written before or after.
    static func writeTextHead(_ count: Int, into bytes: inout ByteWriter) {
        bytes.append(0x81 as UInt8)
        switch count {
        case ..<126: bytes.append(UInt8(truncatingIfNeeded: count))
        case ..<(1 << 16):
            bytes.append(126 as UInt8)
            withUnsafeBytes(of: UInt16(truncatingIfNeeded: count).bigEndian) { bytes.append(contentsOf: $0) }
        default:
            bytes.append(127 as UInt8)
            withUnsafeBytes(of: UInt64(count).bigEndian) { bytes.append(contentsOf: $0) }
        }
    }

    private func take(_ buffer: UnsafeMutablePointer<UInt8>, _ count: Int) -> Int {
        let count = min(count, input.count)
        guard count > 0, let start = input.baseAddress else { return 0 }
        UnsafeMutableRawPointer(buffer).copyMemory(from: start, byteCount: count)
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    private func didReceive(_ message: wslay_event_on_msg_recv_arg) {
        switch UInt32(message.opcode) {
        case WSLAY_TEXT_FRAME.rawValue:
            events.append(.text(Array(UnsafeBufferPointer(start: message.msg, count: message.msg_length))))
        case WSLAY_BINARY_FRAME.rawValue: events.append(.binary)
        case WSLAY_PONG.rawValue: events.append(.pong)
        case WSLAY_CONNECTION_CLOSE.rawValue where message.msg_length == 1: hasHalfCode = true
        case WSLAY_CONNECTION_CLOSE.rawValue: events.append(.closed(code: message.status_code))
        default: break
        }
    }

    private func flush() {
        if wslay_event_want_write(context) != 0 { _ = wslay_event_send(context) }
        if wslay_event_get_close_sent(context) != 0 || wslay_event_want_read(context) == 0 {
            isClosing = true
        }
    }
}
