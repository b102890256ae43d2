// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON

/// Reads the requests of a connection: heads, then bodies piece by piece. It knows no socket and no clock: bytes
/// go in, events come out, and the events are the same however the bytes are divided.
///
/// It rejects whatever two readers could interpret differently: two lengths, a length beside chunks, folded
/// lines, bare line feeds, spaces around field names, chunk sizes with anything but hexadecimal digits, chunks that
/// do not end with CR LF (RFC 9112, sections 2.2, 5, 6, 7 and 11.2).
struct RequestReader: ~Copyable {
    enum Event {
        /// More bytes are needed.
        case wait
        /// A head is complete; its body follows.
        case head(RequestHead)
        /// A piece of the body.
        case body([UInt8])
        /// The body is complete. `startNext` continues with the next request.
        case end
        /// The bytes can no longer be interpreted.
        case failure(RequestFailure)
    }

    private enum State {
        case method
        case target
        case head
        case body
        case complete
        case failed
    }

    private let parser = RequestParser()
    private var limits: RequestLimits
    private var state = State.method
    /// Received bytes: those of the current head, and those not parsed yet.
    private var bytes: [UInt8] = []
    /// The start of the current request, and the end of what has been parsed.
    private var start = 0
    private var parsed = 0
    private var method = HTTPMethod.other
    private var target = 0..<0
    /// How many more bytes the body may have.
    private var bodyLeft = Int.max
    /// Bytes of chunk lines and trailers since the last byte of content.
    private var overhead = 0
    /// The last byte parsed before the current piece of the body.
    private var lastByte: UInt8 = 0
    private var hasBody = false

    init(limits: RequestLimits) { self.limits = limits }

    mutating func take(_ limits: RequestLimits) { self.limits = limits }

    /// The number of buffered bytes.
    var heldBytes: Int { bytes.count - start }
    /// Whether a request has begun whose head is not complete.
    var isInHead: Bool {
        (state == .method || state == .target || state == .head) && bytes.count > start
    }

    mutating func append(_ more: RawSpan) {
        if state == .failed { return }
        // So no byte is moved more often than it is received.
        if start > 0, start >= heldBytes { removeConsumed() }
        bytes.append(contentsOf: more)
    }

    /// Limits the body of the request whose head was read, in bytes; otherwise it is unlimited.
    mutating func limitBody(to count: Int) { bodyLeft = count }

    /// Continues with the request after the complete one.
    mutating func startNext() {
        guard state == .complete else { return }
        parser.reset()
        state = .method
        start = parsed
        if start == bytes.count { removeConsumed() }
        bodyLeft = .max
        overhead = 0
    }

    /// Takes the bytes that follow a complete request and belong to another protocol. Nothing more is read here.
    mutating func takeRest() -> [UInt8] {
        defer {
            bytes = []
            (start, parsed) = (0, 0)
            state = .failed
            parser.giveBackMemory()
        }
        return Array(bytes[parsed...])
    }

    /// Returns the next event; call it until it returns `.wait`.
    mutating func next() -> Event {
        switch state {
        case .method: readMethod()
        case .target: readTarget()
        case .head: readHead()
        case .body: readBody()
        case .complete, .failed: .wait
        }
    }

    private mutating func removeConsumed() {
        // A connection without a request uses no memory.
        if start == bytes.count { bytes = [] } else { bytes.removeFirst(start) }
        parsed -= start
        start = 0
    }

    private mutating func fail(_ status: HTTPStatus, _ message: String) -> Event {
        state = .failed
        bytes = []
        (start, parsed) = (0, 0)
        return .failure(RequestFailure(status, message))
    }

    // MARK: The method

    /// The library has a fixed list of methods and fails at any other. Methods that no resource supports are
    /// presented to it as POST, which may have a body, so that they are answered in order.
    private mutating func readMethod() -> Event {
        // Empty lines before a request are skipped (RFC 9112, section 2.2).
        while bytes.count - start >= 2, bytes[start] == 0x0D, bytes[start + 1] == 0x0A { start += 2 }
        guard start < bytes.count else { return .wait }
        if bytes[start] == 0x0D, bytes.count - start == 1 { return .wait }
        var end = start
        while end < bytes.count, Self.isTokenByte(bytes[end]) { end += 1 }
        guard end < bytes.count else {
            return end - start <= Self.longestMethod
                ? .wait : fail(.badRequest, "The request is malformed: it does not begin with a method.")
        }
        guard end > start, end - start <= Self.longestMethod, bytes[end] == 0x20 else {
            return fail(.badRequest, "The request is malformed: it does not begin with a method and a space.")
        }
        method = HTTPMethod(bytes[start..<end])
        parsed = end + 1
        target = parsed - start..<parsed - start
        state = .target
        return readTarget()
    }

    /// The library accepts no bytes above ASCII in a target, which curl sends as its user types them, so it gets "/"
    /// instead; `RequestTarget` checks what was sent.
    private mutating func readTarget() -> Event {
        let most = start + min(target.lowerBound + limits.targetBytes, limits.headBytes)
        while parsed < bytes.count, parsed <= most, bytes[parsed] > 0x20, bytes[parsed] != 0x7F {
            parsed += 1
        }
        target = target.lowerBound..<parsed - start
        if let failure = sizeFailure() { return failure }
        guard parsed < bytes.count else { return .wait }
        guard bytes[parsed] == 0x20, !target.isEmpty else {
            return bytes[parsed] == 0x0D && !target.isEmpty
                ? fail(.unsupportedVersion)
                : fail(.badRequest, "The request is malformed: its target must have a space before and after it.")
        }
        state = .head
        parser.execute("\((method == .other ? .post : method).name) /")
        return readHead()
    }

    private static let longestMethod = 32

    /// Whether a byte may occur in a token (RFC 9110, section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        // One bit for each ASCII character that is a letter, a digit or one of !#$%&'*+-.^_`|~
        let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : byte < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
        return bits >> UInt64(byte & 63) & 1 == 1
    }

    private static func isToken(_ bytes: Span<UInt8>) -> Bool {
        for position in bytes.indices where !isTokenByte(bytes[position]) { return false }
        return !bytes.isEmpty
    }

    // MARK: The head

    /// Parses line by line, so that of several faults the first is reported, however the bytes are divided.
    private mutating func readHead() -> Event {
        while parsed < bytes.count, !parser.isHeadComplete {
            if bytes[parsed - 1] == 0x0A, bytes[parsed] == 0x20 || bytes[parsed] == 0x09 { return failLine() }
            parse(upTo: min(lineEnd, start + limits.headBytes + 1))
            if let failure = headFailure() { return failure }
        }
        guard parser.isHeadComplete else { return .wait }
        do throws(RequestFailure) {
            let head = try makeHead()
            hasBody = head.hasBody
            state = .body
            return .head(head)
        } catch {
            return fail(error.status, error.error.message)
        }
    }

    /// The end of the line being parsed, as far as it has arrived.
    private var lineEnd: Int {
        bytes[parsed...].firstIndex(of: 0x0A).map { $0 + 1 } ?? bytes.count
    }

    /// The fault in the head as far as it has been parsed; nil if there is none.
    private mutating func headFailure() -> Event? {
        if let failure = parser.failure { return fail(failure) }
        if let failure = sizeFailure() { return failure }
        return bytes[parsed - 1] != 0x0A || bytes[parsed - 2] == 0x0D ? nil : failLine()
    }

    private mutating func sizeFailure() -> Event? {
        if target.count > limits.targetBytes {
            return fail(.uriTooLong, "The URL is longer than the limit of \(limits.targetBytes) bytes.")
        }
        guard parsed - start <= limits.headBytes else {
            return fail(.headTooLarge, "The request's head is larger than the limit of \(limits.headBytes) bytes.")
        }
        return nil
    }

    private mutating func failLine() -> Event {
        fail(.badRequest, "The request is malformed: lines must end with CR LF, and must not begin with a space.")
    }

    private mutating func parse(upTo end: Int) {
        guard parsed < end else { return }
        let taken = parser.execute(bytes.span.extracting(parsed..<end), offset: parsed - start, bodyLeft: bodyLeft)
        parsed += taken
    }

    private mutating func fail(_ failure: RequestParser.Failure) -> Event {
        switch failure {
        case .malformed(let reason): fail(.badRequest, "The request is malformed: \(reason).")
        case .unsupportedVersion: fail(.versionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are supported.")
        case .tooLarge: fail(.contentTooLarge, "The request's body is larger than the limit.")
        }
    }

    private func makeHead() throws(RequestFailure) -> RequestHead {
        let version = parser.version
        guard version.major == 1, version.minor <= 1 else {
            throw RequestFailure(.versionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are supported.")
        }
        let bytes = Array(bytes[start..<parsed])
        // The library accepts several spaces after the target.
        guard let target = RequestTarget(bytes, target),
            bytes[target.whole.upperBound + 1] == UInt8(ascii: "H")
        else { throw RequestFailure(.badRequest, "The request's target is malformed.") }
        var fields: [(field: HeaderField, range: Range<Int>)] = []
        fields.reserveCapacity(parser.names.count)
        for (position, name) in parser.names.enumerated() {
            guard Self.isToken(bytes.span.extracting(name)) else {
                throw RequestFailure(.badRequest, "A header field's name is malformed.")
            }
            guard let field = HeaderField(name: bytes.span.extracting(name)), position < parser.values.count
            else { continue }
            let value = parser.values[position]
            fields.append((field, Self.trimmed(bytes, value.lowerBound, value.upperBound)))
        }
        func count(_ field: HeaderField) -> Int { fields.count { $0.field == field } }
        guard count(.host) <= 1 else {
            throw RequestFailure(.badRequest, "The request has more than one Host.")
        }
        if version.minor == 1, count(.host) == 0 {
            throw RequestFailure(.badRequest, "An HTTP/1.1 request must have a Host.")
        }
        let encodings = fields.filter { $0.field == .transferEncoding }.map { bytes[$0.range] }
        return RequestHead(
            method: method, isVersion10: version.minor == 0, keepsAlive: parser.keepsAlive,
            contentLength: try contentLength(version.minor, encodings),
            wantsUpgrade: parser.wantsUpgrade, bytes: bytes, target: target, fields: fields)
    }

    /// The body's length in bytes; nil if it is chunked. The library has rejected two lengths and a length beside
    /// chunks.
    private func contentLength(_ minor: Int, _ encodings: [ArraySlice<UInt8>]) throws(RequestFailure) -> Int? {
        guard !encodings.isEmpty else {
            guard let count = Int(exactly: parser.contentLength ?? 0) else {
                throw RequestFailure(.badRequest, "The request's Content-Length is too large.")
            }
            return count
        }
        guard minor == 1, parser.isChunked else {
            throw RequestFailure(
                .badRequest,
                "The last Transfer-Encoding of a request must be chunked, and HTTP/1.0 has no Transfer-Encoding.")
        }
        guard encodings.count == 1, String(decoding: encodings[0], as: UTF8.self).lowercased() == "chunked" else {
            throw RequestFailure(.notImplemented, "The only supported Transfer-Encoding is chunked.")
        }
        return nil
    }

    private static func trimmed(_ bytes: [UInt8], _ from: Int, _ to: Int) -> Range<Int> {
        var (from, to) = (from, to)
        while from < to, bytes[from] == 0x20 || bytes[from] == 0x09 { from += 1 }
        while from < to, bytes[to - 1] == 0x20 || bytes[to - 1] == 0x09 { to -= 1 }
        return from..<to
    }

    // MARK: The body

    private mutating func readBody() -> Event {
        guard hasBody, !parser.isMessageComplete else { return complete() }
        let from = parsed
        parse(upTo: bytes.count)
        let piece = parser.takeBody()
        start = parsed
        overhead = piece.isEmpty ? overhead + parsed - from : 0
        if let failure = parser.failure { return fail(failure) }
        if overhead > limits.headBytes {
            return fail(.badRequest, "The request's chunks have more than \(limits.headBytes) bytes around them.")
        }
        guard piece.count <= bodyLeft else { return fail(.tooLarge) }
        if parsed > from {
            let before = parsed > from + 1 ? bytes[parsed - 2] : lastByte
            lastByte = bytes[parsed - 1]
            // The library accepts a line feed alone after the trailers.
            if parser.isMessageComplete, parser.isChunked, before != 0x0D { return failLine() }
        }
        if !piece.isEmpty {
            bodyLeft -= piece.count
            return .body(piece)
        }
        return parser.isMessageComplete ? complete() : .wait
    }

    private mutating func complete() -> Event {
        state = .complete
        start = parsed
        return .end
    }
}

/// Limits on the size of requests.
struct RequestLimits: Sendable, Equatable {
    /// The maximum size in bytes of a request line and header fields.
    var headBytes = 16 << 10
    /// The maximum size in bytes of the target.
    var targetBytes = 8 << 10
    /// The maximum size in bytes of a body that is read as a whole.
    var bodyBytes = 16 << 20
}
