// SPDX-License-Identifier: MIT
import CLLHTTP

/// Runs llhttp on the bytes of one connection. It stops at the end of each head and of each body.
///
/// Invariant: `raw` belongs to this object and is initialised from `init` to `deinit`. Its data pointer refers to
/// this object, unretained, and is used only during `execute`, which keeps the object alive. Recorded ranges are
/// offsets from the start of the request, never pointers.
final class RequestParser {
    /// Why parsing cannot continue.
    enum Failure: Equatable {
        case malformed(String)
        case unsupportedVersion
        /// A chunk is longer than what the body may still have.
        case tooLarge
    }

    private let raw: UnsafeMutablePointer<llhttp_t>
    /// Where the bytes of this `execute` begin in memory, and in the request.
    private var base: UnsafePointer<CChar>?
    private var offset = 0

    /// Names and values in pairs; the last value is missing while its line is being parsed.
    private(set) var names: [Range<Int>] = []
    private(set) var values: [Range<Int>] = []
    private(set) var isHeadComplete = false
    private(set) var isMessageComplete = false
    private(set) var failure: Failure?
    private(set) var wantsUpgrade = false
    /// The bytes of the body that `execute` found, to be taken by the caller.
    private var body: [UInt8] = []
    /// The most bytes that the next chunk may have.
    private var mostOfChunk = Int.max

    init() {
        raw = .allocate(capacity: 1)
        raw.initialize(to: llhttp_t())
        llhttp_init(raw, HTTP_REQUEST, Self.settings)
    }

    deinit { raw.deallocate() }

    /// Prepares for the next request of the connection.
    func reset() {
        llhttp_reset(raw)
        names.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        isHeadComplete = false
        isMessageComplete = false
        failure = nil
        wantsUpgrade = false
        body = []
    }

    /// Frees the memory kept for the next request.
    func giveBackMemory() {
        names = []
        values = []
    }

    /// Parses until the head or the message is complete, or the bytes are exhausted.
    ///
    /// - Parameters:
    ///   - offset: how many bytes of the request came before `bytes`.
    ///   - bodyLeft: the most bytes that the body may still have.
    /// - Returns: the number of bytes consumed.
    func execute(_ bytes: Span<UInt8>, offset: Int, bodyLeft: Int = .max) -> Int {
        bytes.withUnsafeBytes { bytes in
            guard failure == nil, let start = bytes.baseAddress else { return 0 }
            return execute(start.assumingMemoryBound(to: CChar.self), bytes.count, offset, bodyLeft)
        }
    }

    private func execute(_ first: UnsafePointer<CChar>, _ count: Int, _ offset: Int, _ bodyLeft: Int) -> Int {
        llhttp_resume(raw)
        raw.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        base = first
        self.offset = offset
        mostOfChunk = bodyLeft
        defer { base = nil }
        let status = withExtendedLifetime(self) { llhttp_execute(raw, first, count) }
        if status == HPE_OK { return count }
        if status != HPE_PAUSED { record(status) }
        return llhttp_get_error_pos(raw).map { $0 - first } ?? 0
    }

    /// Parses a text in place of received bytes.
    func execute(_ text: String) { _ = execute(Array(text.utf8).span, offset: 0) }

    private func record(_ status: llhttp_errno) {
        if status == HPE_INVALID_VERSION, version.major != 1 || version.minor > 1 {
            failure = .unsupportedVersion
        } else if failure == nil {
            failure = .malformed(llhttp_get_error_reason(raw).map { String(cString: $0) } ?? "unreadable")
        }
    }

    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    var version: (major: Int, minor: Int) { (Int(raw.pointee.http_major), Int(raw.pointee.http_minor)) }
    var isChunked: Bool { has(F_CHUNKED) }
    var keepsAlive: Bool { llhttp_should_keep_alive(raw) != 0 }
    /// The declared length in bytes once the head is complete; nil if there is none.
    var contentLength: UInt64? { has(F_CONTENT_LENGTH) ? raw.pointee.content_length : nil }

    private func has(_ flag: llhttp_flags) -> Bool { UInt32(raw.pointee.flags) & flag.rawValue != 0 }

    // MARK: The library's callbacks

    /// The library keeps the pointer of its settings, so they are never freed.
    ///
    /// They are written once, before the first parser, and only read after that: `nonisolated(unsafe)` is sound.
    nonisolated(unsafe) private static let settings: UnsafePointer<llhttp_settings_t> = {
        let settings = UnsafeMutablePointer<llhttp_settings_t>.allocate(capacity: 1)
        settings.initialize(to: llhttp_settings_t())
        settings.pointee.on_header_field = { raw, start, count in
            RequestParser.call(raw) { $0.didReadName($0.range(start, count)) }
        }
        settings.pointee.on_header_value = { raw, start, count in
            RequestParser.call(raw) { $0.didReadValue($0.range(start, count)) }
        }
        settings.pointee.on_headers_complete = { raw in RequestParser.call(raw) { $0.didCompleteHead() } }
        settings.pointee.on_chunk_header = { raw in RequestParser.call(raw) { $0.didReadChunkSize() } }
        settings.pointee.on_body = { raw, start, count in
            RequestParser.call(raw) {
                $0.body.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
                return HPE_OK
            }
        }
        settings.pointee.on_message_complete = { raw in
            RequestParser.call(raw) {
                $0.isMessageComplete = true
                return HPE_PAUSED
            }
        }
        return UnsafePointer(settings)
    }()

    private static func call(_ raw: UnsafeMutablePointer<llhttp_t>?, _ body: (RequestParser) -> llhttp_errno) -> Int32 {
        guard let data = raw?.pointee.data else { return -1 }
        return Int32(body(Unmanaged<RequestParser>.fromOpaque(data).takeUnretainedValue()).rawValue)
    }

    private func range(_ start: UnsafePointer<CChar>?, _ count: Int) -> Range<Int> {
        guard let start, let base else { return 0..<0 }
        let first = offset + (start - base)
        return first..<first + count
    }

    /// Names and values may come in several parts. Fields of trailers are ignored.
    private func didReadName(_ range: Range<Int>) -> llhttp_errno {
        guard !isHeadComplete else { return HPE_OK }
        if names.count > values.count, let last = names.popLast() {
            names.append(last.lowerBound..<range.upperBound)
        } else {
            names.append(range)
        }
        return HPE_OK
    }

    private func didReadValue(_ range: Range<Int>) -> llhttp_errno {
        guard !isHeadComplete else { return HPE_OK }
        if names.count == values.count, let last = values.popLast() {
            values.append(last.lowerBound..<range.upperBound)
        } else {
            values.append(range)
        }
        return HPE_OK
    }

    private func didCompleteHead() -> llhttp_errno {
        isHeadComplete = true
        wantsUpgrade = raw.pointee.upgrade != 0
        // What follows is always this request's body; the connection handles upgrades.
        raw.pointee.upgrade = 0
        return HPE_PAUSED
    }

    private func didReadChunkSize() -> llhttp_errno {
        guard let size = Int(exactly: raw.pointee.content_length) else {
            failure = .malformed("a chunk's size exceeds 63 bits")
            return HPE_USER
        }
        guard size <= mostOfChunk else {
            failure = .tooLarge
            return HPE_USER
        }
        return HPE_OK
    }
}
