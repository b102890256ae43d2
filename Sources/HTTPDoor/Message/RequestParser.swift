// SPDX-License-Identifier: MIT
import CHTTP

/// Runs libhttp_parser on the bytes of one connection. It stops at the end of each head and of each body.
///
/// Invariant: `raw` belongs to this object and is initialised from `init` to `deinit`. Its data pointer refers to
/// this object, unretained, and is used only during `execute`, which keeps the object alive. Recorded ranges are
/// offsets from the position that the caller passes to `execute`, never pointers.
final class RequestParser {
    private let raw: UnsafeMutablePointer<http_parser>
    /// Where the bytes of this `execute` begin in memory, and their offset for the caller.
    private var base: UnsafePointer<CChar>?
    private var offset = 0
    private var isInHead = true

    private(set) var target: Range<Int>?
    /// Names and values in pairs. A value may continue over several calls.
    private(set) var names: [Range<Int>] = []
    private(set) var values: [Range<Int>] = []
    private var lastWasValue = true
    private(set) var isHeadComplete = false
    private(set) var isMessageComplete = false
    /// The bytes of the body that `execute` found, to be taken by the caller.
    private(set) var body: [UInt8] = []
    /// Checks what surrounds the chunks of a body.
    private var chunkLines = ChunkLines()
    /// The offset in this `execute` after the last content that was found.
    private var contentEnd = 0

    /// Lifts the library's own limit on heads, which applies to the whole process and may be less than ours.
    private static let liftedLimit: Void = http_parser_set_max_header_size(UInt32.max)

    init() {
        Self.liftedLimit
        raw = .allocate(capacity: 1)
        raw.initialize(to: CHTTP.http_parser())
        http_parser_init(raw, HTTP_REQUEST)
    }

    deinit { raw.deallocate() }

    /// Prepares for the next request of the connection.
    func reset() {
        http_parser_init(raw, HTTP_REQUEST)
        isInHead = true
        target = nil
        names.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        lastWasValue = true
        isHeadComplete = false
        isMessageComplete = false
        body = []
        chunkLines = ChunkLines()
    }

    /// Frees the memory kept for the next request.
    func giveBackMemory() {
        names = []
        values = []
    }

    /// Parses until the head or the message is complete, or the bytes are exhausted.
    ///
    /// - Parameter offset: the offset of `bytes` from which ranges are counted.
    /// - Returns: the number of bytes consumed.
    func execute(_ bytes: UnsafeRawBufferPointer, offset: Int) -> Int {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return 0 }
        if HTTP_PARSER_ERRNO(raw) == HPE_PAUSED { http_parser_pause(raw, 0) }
        raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        base = start.assumingMemoryBound(to: CChar.self)
        self.offset = offset
        defer { base = nil }
        contentEnd = 0
        let isInBody = isHeadComplete
        let count = withExtendedLifetime(self) {
            withUnsafePointer(to: Self.settings) { http_parser_execute(raw, $0, base, bytes.count) }
        }
        if isInBody, isChunked {
            chunkLines.take(UnsafeRawBufferPointer(rebasing: bytes[min(contentEnd, count)..<count]))
        }
        return count
    }

    /// Parses a text in place of received bytes.
    func execute(_ text: StaticString) {
        _ = execute(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), offset: 0)
    }

    /// Whether the lines around chunks are such that other programs may understand them differently.
    var hasMalformedChunks: Bool { chunkLines.areMalformed }

    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Why parsing has failed; nil while it continues.
    var failure: http_errno? {
        let number = HTTP_PARSER_ERRNO(raw)
        return number == HPE_OK || number == HPE_PAUSED ? nil : number
    }

    func message(of failure: http_errno) -> String { String(cString: http_errno_description(failure)) }

    var version: (major: Int, minor: Int) { (Int(raw.pointee.http_major), Int(raw.pointee.http_minor)) }
    var isChunked: Bool { raw.pointee.flags & UInt32(F_CHUNKED.rawValue) != 0 }
    var keepsAlive: Bool { http_should_keep_alive(raw) != 0 }
    /// The declared length in bytes once the head is complete; nil if there is none.
    var contentLength: UInt64? {
        let hasLength = raw.pointee.flags & UInt32(F_CONTENTLENGTH.rawValue) != 0
        return hasLength && raw.pointee.content_length != .max ? raw.pointee.content_length : nil
    }
    private(set) var wantsUpgrade = false

    private static func parser(_ raw: UnsafeMutablePointer<http_parser>?) -> RequestParser? {
        guard let data = raw?.pointee.data else { return nil }
        return Unmanaged<RequestParser>.fromOpaque(data).takeUnretainedValue()
    }

    private func range(_ start: UnsafePointer<CChar>?, _ count: Int) -> Range<Int> {
        guard let start, let base else { return 0..<0 }
        let first = offset + (start - base)
        return first..<first + count
    }

    private static let settings: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        settings.on_url = { raw, start, count in
            guard let parser = RequestParser.parser(raw) else { return 1 }
            let range = parser.range(start, count)
            parser.target = (parser.target?.lowerBound ?? range.lowerBound)..<range.upperBound
            return 0
        }
        settings.on_header_field = { raw, start, count in
            RequestParser.parser(raw)?.didReadName(start, count)
            return 0
        }
        settings.on_header_value = { raw, start, count in
            RequestParser.parser(raw)?.didReadValue(start, count)
            return 0
        }
        settings.on_headers_complete = { raw in
            RequestParser.parser(raw)?.didCompleteHead()
            return 0
        }
        settings.on_body = { raw, start, count in
            RequestParser.parser(raw)?.didReadBody(start, count)
            return 0
        }
        settings.on_message_complete = { raw in
            RequestParser.parser(raw)?.isMessageComplete = true
            http_parser_pause(raw, 1)
            return 0
        }
        return settings
    }()

    private func didReadName(_ start: UnsafePointer<CChar>?, _ count: Int) {
        guard isInHead else { return }
        let range = range(start, count)
        if lastWasValue {
            names.append(range)
        } else if let last = names.popLast() {
            names.append(last.lowerBound..<range.upperBound)
        }
        lastWasValue = false
    }

    private func didReadValue(_ start: UnsafePointer<CChar>?, _ count: Int) {
        guard isInHead else { return }
        let range = range(start, count)
        if lastWasValue, let last = values.popLast() {
            values.append(last.lowerBound..<range.upperBound)
        } else {
            values.append(range)
        }
        lastWasValue = true
    }

    private func didReadBody(_ start: UnsafePointer<CChar>?, _ count: Int) {
        guard let start, let base, count > 0 else { return }
        body.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
        let position = start - base
        // A chunk's content may come in several parts.
        if position > contentEnd {
            chunkLines.take(UnsafeRawBufferPointer(start: base + contentEnd, count: position - contentEnd))
        }
        chunkLines.content()
        contentEnd = position + count
    }

    private func didCompleteHead() {
        isInHead = false
        isHeadComplete = true
        wantsUpgrade = raw.pointee.upgrade != 0
        // What follows is always this request's body; the connection handles upgrades.
        raw.pointee.upgrade = 0
        http_parser_pause(raw, 1)
    }
}

/// The C header's macro of that name.
private func HTTP_PARSER_ERRNO(_ raw: UnsafeMutablePointer<http_parser>) -> http_errno {
    http_errno(rawValue: raw.pointee.http_errno)
}
