// SPDX-License-Identifier: MIT
import CHTTP
import ClusterProtocol
import Glibc

/// Reads the requests of a connection: heads, then bodies piece by piece. It knows no socket and no clock: bytes
/// go in, events come out, and the events are the same however the bytes are divided.
///
/// It rejects whatever two readers could interpret differently: two lengths, a length beside chunks, folded
/// lines, bare line feeds, spaces around field names, chunks that do not end with CR LF (RFC 9112, sections 2.2, 5, 6
/// and 7).
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
        case head
        case body
        case complete
        case failed
    }

    private let parser = RequestParser()
    private let recent: RecentHeads
    private var limits: RequestLimits
    private var state = State.method
    /// Received bytes: those of the current head, and those not parsed yet.
    private var bytes: [UInt8] = []
    /// The start of the current request, and the end of what has been parsed.
    private var start = 0
    private var parsed = 0
    private var method = HTTPMethod.other
    /// How many more bytes the body may have.
    private var bodyLeft = Int.max
    /// Bytes of chunk lines and trailers since the last byte of content.
    private var overhead = 0

    /// Whether the current head was recognised as a recent one, so that the parser has not seen it.
    private var isKnownHead = false

    init(limits: RequestLimits, recent: RecentHeads = RecentHeads()) {
        self.limits = limits
        self.recent = recent
    }

    mutating func take(_ limits: RequestLimits) { self.limits = limits }

    /// The number of buffered bytes.
    var heldBytes: Int { bytes.count - start }
    /// Whether a request has begun whose head is not complete.
    var isInHead: Bool { (state == .method || state == .head) && bytes.count > start }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if state == .failed { return }
        if start > 0, start == bytes.count { compact() }
        bytes.append(contentsOf: more)
    }

    /// Limits the body of the request whose head was read, in bytes; otherwise it is unlimited.
    mutating func limitBody(to count: Int) { bodyLeft = count }

    /// Continues with the request after the complete one.
    mutating func startNext() {
        guard state == .complete else { return }
        if isKnownHead { isKnownHead = false } else { parser.reset() }
        state = .method
        start = parsed
        if start == bytes.count || start > Self.mostSlack { compact() }
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
        case .head: readHead()
        case .body: readBody()
        case .complete, .failed: .wait
        }
    }

    private static let mostSlack = 32 << 10

    private mutating func compact() {
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
        if let head = knownHead() { return .head(head) }
        var end = start
        while end < bytes.count, Self.isTokenByte(bytes[end]) { end += 1 }
        guard end < bytes.count else {
            return end - start <= Self.longestMethod
                ? .wait : fail(.badRequest, "The request is malformed: it does not begin with a method.")
        }
        guard end > start, end - start <= Self.longestMethod, bytes[end] == 0x20 else {
            return fail(.badRequest, "The request is malformed: it does not begin with a method and a space.")
        }
        method = HTTPMethod(bytes.span.extracting(start..<end))
        parsed = end
        state = .head
        parser.execute((method == .other ? .post : method).staticName)
        return readHead()
    }

    /// A recent head with the same bytes.
    private mutating func knownHead() -> RequestHead? {
        let head = bytes.withUnsafeBytes {
            recent.head(beginning: UnsafeRawBufferPointer(rebasing: $0[start...]))
        }
        guard let head else { return nil }
        isKnownHead = true
        parsed = start + head.byteCount + 1
        state = .body
        return head
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
            parse(upTo: min(lineEnd, start + limits.headBytes + 1, mostOfTarget))
            if let failure = headFailure() { return failure }
        }
        guard parser.isHeadComplete else { return .wait }
        do throws(RequestFailure) {
            let head = try makeHead()
            recent.keep(head)
            state = .body
            return .head(head)
        } catch {
            return fail(error.status, error.error.message)
        }
    }

    /// The limit of parsing before the target's length is checked: the library does not report a target that ends
    /// in a fault.
    private var mostOfTarget: Int {
        parser.names.isEmpty ? parsed + limits.targetBytes + 1 - (parser.target?.count ?? 0) : bytes.count
    }

    /// The end of the line being parsed, as far as it has arrived.
    private var lineEnd: Int {
        bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[parsed...])
            guard let start = rest.baseAddress, let end = memchr(start, 0x0A, rest.count) else {
                return bytes.count
            }
            return parsed + (UnsafeRawPointer(end) - start) + 1
        }
    }

    /// The fault in the head as far as it has been parsed; nil if there is none.
    private mutating func headFailure() -> Event? {
        if let target = parser.target, target.count > limits.targetBytes {
            return fail(.uriTooLong, "The URL is longer than the limit of \(limits.targetBytes) bytes.")
        }
        if let failure = parser.failure { return fail(failure) }
        // The library stops before the line feed that ends the head.
        guard parsed - start + (parser.isHeadComplete ? 1 : 0) <= limits.headBytes else {
            return fail(
                .headTooLarge, "The request's head is larger than the limit of \(limits.headBytes) bytes.")
        }
        let lineEnd = parser.isHeadComplete ? parsed : parsed - 1
        let isClean = lineEnd >= bytes.count || bytes[lineEnd] != 0x0A || bytes[lineEnd - 1] == 0x0D
        return isClean ? nil : failLine()
    }

    private mutating func failLine() -> Event {
        fail(
            .badRequest,
            "The request is malformed: lines must end with CR LF, and must not begin with a space.")
    }

    private mutating func parse(upTo end: Int) {
        guard parsed < end else { return }
        let (from, parser) = (parsed, parser)
        parsed += bytes.withUnsafeBytes {
            parser.execute(UnsafeRawBufferPointer(rebasing: $0[from..<end]), offset: from)
        }
    }

    private mutating func fail(_ failure: http_errno) -> Event {
        let version = parser.version
        if failure == HPE_INVALID_VERSION || version.major > 1 {
            return fail(.versionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are supported.")
        }
        return fail(.badRequest, "The request is malformed: \(parser.message(of: failure)).")
    }

    private func makeHead() throws(RequestFailure) -> RequestHead {
        let version = parser.version
        guard version.major == 1, version.minor <= 1 else {
            throw RequestFailure(.versionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are supported.")
        }
        let bytes = Array(bytes[start..<parsed])
        guard let range = parser.target,
            let target = RequestTarget(bytes, range.lowerBound - start..<range.upperBound - start),
            hasSingleSpaces(bytes, around: target.whole)
        else { throw RequestFailure(.badRequest, "The request's target is malformed.") }
        var fields: [(field: HeaderField, range: Range<Int>)] = []
        fields.reserveCapacity(parser.names.count)
        for (position, name) in parser.names.enumerated() {
            let name = name.lowerBound - start..<name.upperBound - start
            guard Self.isToken(bytes.span.extracting(name)) else {
                throw RequestFailure(.badRequest, "A header field's name is malformed.")
            }
            let field = bytes.withUnsafeBytes {
                HeaderField(name: UnsafeRawBufferPointer(rebasing: $0[name]))
            }
            guard let field, position < parser.values.count else { continue }
            let value = parser.values[position]
            fields.append((field, Self.trimmed(bytes, value.lowerBound - start, value.upperBound - start)))
        }
        func count(_ field: HeaderField) -> Int { fields.count { $0.field == field } }
        guard count(.host) <= 1 else {
            throw RequestFailure(.badRequest, "The request has more than one Host.")
        }
        if version.minor == 1, count(.host) == 0 {
            throw RequestFailure(.badRequest, "An HTTP/1.1 request must have a Host.")
        }
        return RequestHead(
            method: method, isVersion10: version.minor == 0, keepsAlive: parser.keepsAlive,
            contentLength: try contentLength(version.minor, count(.transferEncoding), count(.contentLength)),
            wantsUpgrade: parser.wantsUpgrade, bytes: bytes, target: target, fields: fields)
    }

    /// Whether the request line has one space before its target and one after it; the library accepts several.
    private func hasSingleSpaces(_ bytes: [UInt8], around target: Range<Int>) -> Bool {
        guard target.lowerBound >= 2, target.upperBound + 1 < bytes.count else { return false }
        return bytes[target.lowerBound - 2] != 0x20 && bytes[target.upperBound + 1] == UInt8(ascii: "H")
    }

    /// The body's length in bytes; nil if it is chunked.
    private func contentLength(
        _ minor: Int, _ encodings: Int, _ lengths: Int
    ) throws(RequestFailure) -> Int? {
        guard encodings > 0 else {
            guard lengths <= 1 else {
                throw RequestFailure(.badRequest, "The request has more than one Content-Length.")
            }
            guard let length = parser.contentLength else { return 0 }
            guard let count = Int(exactly: length) else {
                throw RequestFailure(.badRequest, "The request's Content-Length is too large.")
            }
            return count
        }
        guard lengths == 0, encodings == 1, minor == 1 else {
            throw RequestFailure(
                .badRequest,
                "The request has a Transfer-Encoding beside another, beside a Content-Length, or in HTTP/1.0."
            )
        }
        let codings = transferCodings
        guard parser.isChunked, codings.last == "chunked" else {
            throw RequestFailure(.badRequest, "The last Transfer-Encoding of a request must be chunked.")
        }
        guard codings.count == 1 else {
            throw RequestFailure(.notImplemented, "The only supported Transfer-Encoding is chunked.")
        }
        return nil
    }

    private var transferCodings: [String] {
        for (name, value) in zip(parser.names, parser.values) {
            let isEncoding = bytes[name].withUnsafeBytes { HeaderField(name: $0) == .transferEncoding }
            guard isEncoding else { continue }
            return String(decoding: bytes[value], as: UTF8.self).lowercased().split(separator: ",").map(
                \.trimmingSpaces)
        }
        return []
    }

    private static func trimmed(_ bytes: [UInt8], _ from: Int, _ to: Int) -> Range<Int> {
        var (from, to) = (from, to)
        while from < to, bytes[from] == 0x20 || bytes[from] == 0x09 { from += 1 }
        while from < to, bytes[to - 1] == 0x20 || bytes[to - 1] == 0x09 { to -= 1 }
        return from..<to
    }

    // MARK: The body

    private mutating func readBody() -> Event {
        if isKnownHead || parser.isMessageComplete { return complete() }
        let from = parsed
        parse(upTo: bytes.count)
        let piece = parser.takeBody()
        start = parsed
        overhead = piece.isEmpty ? overhead + parsed - from : 0
        if let failure = parser.failure { return fail(failure) }
        if parser.isChunked, parser.hasMalformedChunks {
            return fail(
                .badRequest, "The request is malformed: the lines around its chunks must end with CR LF.")
        }
        if overhead > limits.headBytes {
            return fail(
                .badRequest, "The request's chunks have more than \(limits.headBytes) bytes around them.")
        }
        guard piece.count <= bodyLeft else {
            return fail(.contentTooLarge, "The request's body is larger than the limit.")
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
