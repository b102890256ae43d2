// SPDX-License-Identifier: MIT
import Compression
import JSON

/// Extracts length-prefixed frames from a stream of bytes, however it is divided.
///
/// It knows no socket: bytes go in through `append`, whole messages come out of `next`. After an error the
/// stream can no longer be trusted.
public struct FrameDecoder: Sendable {
    private var held: [UInt8] = []
    private var start = 0
    private let rules: FrameRules

    /// - Parameter limit: the maximum size of a message in bytes, both as sent and as inflated.
    public init(limit: Int = MessageLimits.maximumMessageBytes) { self.init(FrameRules(limit: limit)) }

    public init(_ rules: FrameRules) { self.rules = rules }

    /// The number of buffered bytes that belong to frames that are incomplete or not yet taken.
    public var waiting: Int { held.count - start }

    /// The number of bytes for which it has memory.
    var capacity: Int { held.capacity }

    public mutating func append(_ bytes: RawSpan) {
        if start > 0 {
            held.removeFirst(start)
            start = 0
        }
        held.append(contentsOf: bytes)
    }

    /// Passes the next whole message to `body`, inflated if it was compressed; returns nil if none is complete.
    public mutating func next<Result>(_ body: (Span<UInt8>) -> Result) throws(RPCError) -> Result? {
        var result: Result?
        _ = try lendNext { result = body($0) }
        return result
    }

    /// Passes the next whole message to `body`; returns false if none is complete.
    public mutating func lendNext(_ body: (Span<UInt8>) -> Void) throws(RPCError) -> Bool {
        guard let (payload, isCompressed) = try nextPayload() else { return false }
        start = payload.upperBound
        guard isCompressed else {
            body(held.span.extracting(payload))
            return true
        }
        try HeldFrame(held[payload], isCompressed: true, rules).withText(body)
        return true
    }

    /// Takes the next message as sent, if it is complete and large enough to take long to read. Returns nil
    /// for other messages, which `next` returns.
    ///
    /// - Parameters:
    ///   - bytes: the size from which a message counts as large.
    ///   - compressed: the same size for a compressed message, which inflates to at most about a thousand
    ///     times as much.
    public mutating func takeLarge(from bytes: Int, compressed: Int) throws(RPCError) -> HeldFrame? {
        guard let (payload, isCompressed) = try nextPayload(),
            payload.count >= (isCompressed ? compressed : bytes)
        else { return nil }
        guard payload.upperBound == held.count else {
            start = payload.upperBound
            return HeldFrame(Array(held[payload])[...], isCompressed: isCompressed, rules)
        }
        // No bytes follow the message: the buffer is handed over without a copy.
        let frame = HeldFrame(held[payload], isCompressed: isCompressed, rules)
        (held, start) = ([], 0)
        return frame
    }

    /// The maximum memory reserved for an incomplete message, as a multiple of its bytes received so far.
    private static let reservedAtMost = 8

    /// The range of the next complete frame's payload; nil if no frame is complete.
    private mutating func nextPayload() throws(RPCError) -> (range: Range<Int>, isCompressed: Bool)? {
        guard waiting >= 1 else {
            trim()
            return nil
        }
        let flag = held[start]
        guard flag == 0 || flag == 1 && rules.compression != nil else {
            let expected =
                rules.compression.map { "0 (as is) or 1 (compressed with \($0.name)) was" } ?? "0 (as is) was"
            throw RPCError(.invalidArgument, "The frame's flag is \(flag): \(expected) expected. \(rules.consequence)")
        }
        guard waiting >= MessageLimits.prefixLength else { return nil }
        let length =
            Int(held[start + 1]) << 24 | Int(held[start + 2]) << 16 | Int(held[start + 3]) << 8 | Int(held[start + 4])
        guard length <= rules.limit else {
            throw RPCError(
                .resourceExhausted,
                "The frame's length is \(length) bytes, more than the limit of \(rules.limit). Send it in parts. \(rules.consequence)"
            )
        }
        let end = start + MessageLimits.prefixLength + length
        guard held.count >= end else {
            // A declared length alone reserves nothing: otherwise a thousand connections could reserve
            // gigabytes of address space.
            if waiting >= length / Self.reservedAtMost { held.reserveCapacity(end) }
            return nil
        }
        return (start + MessageLimits.prefixLength..<end, flag == 1)
    }

    /// Frees a large buffer once it is empty, so that idle connections use little memory.
    private mutating func trim() {
        guard held.capacity > 4096 else { return }
        held = []
        start = 0
    }
}

/// Which frames are valid, and what follows on one that is not.
public struct FrameRules: Sendable, Equatable {
    /// The maximum size of a message in bytes, both as sent and as inflated.
    public var limit: Int
    /// What frames of flag 1 are compressed with; nil if there must be none.
    public var compression: InflateStream.Format?
    /// A sentence for errors.
    public var consequence: String

    public init(
        limit: Int, compression: InflateStream.Format? = .zlib, consequence: String = "The connection is closed."
    ) {
        (self.limit, self.compression, self.consequence) = (limit, compression, consequence)
    }
}

extension InflateStream.Format {
    fileprivate var name: String { self == .zlib ? "zlib" : "gzip" }
}

/// Limits on the sizes of messages.
public enum MessageLimits {
    /// The size in bytes of a frame's prefix: a flag, and a length in 32 bits.
    public static let prefixLength = 5
    /// The maximum size in bytes of a message to the server, both as sent and as inflated.
    public static let maximumMessageBytes = 16 << 20
    /// The maximum size of an answer in bytes.
    public static let maximumAnswerBytes = 64 << 20
}

/// A frame that was taken from its stream to be read elsewhere.
public struct HeldFrame: Sendable, Equatable {
    private let payload: ArraySlice<UInt8>
    private let isCompressed: Bool
    private let rules: FrameRules

    init(_ payload: ArraySlice<UInt8>, isCompressed: Bool, _ rules: FrameRules) {
        self.payload = payload
        self.isCompressed = isCompressed
        self.rules = rules
    }

    /// The size of the payload in bytes.
    public var count: Int { payload.count }

    /// The maximum size in bytes of the inflated message: deflate compresses to about a thousandth at best.
    public var mostBytes: Int { isCompressed ? min(rules.limit, 1032 * count) : count }

    /// Passes the message to `body`, inflated if it was compressed. After an error the stream from which the
    /// frame came can no longer be trusted.
    ///
    /// - Complexity: O(length); inflating runs at a few hundred MB/s.
    public func withText<Result>(_ body: (Span<UInt8>) -> Result) throws(RPCError) -> Result {
        if isCompressed { return try withInflated(body) }
        return body(payload.span)
    }

    /// A function of its own, because the compiler (6.3) crashes if one function lends two spans.
    private func withInflated<Result>(_ body: (Span<UInt8>) -> Result) throws(RPCError) -> Result {
        let text = try inflated()
        return body(text.span)
    }

    private func inflated() throws(RPCError) -> [UInt8] {
        let format = rules.compression ?? .zlib
        do throws(CompressionError) {
            return try Zlib.inflate(payload.span, format: format, limit: rules.limit)
        } catch {
            if case .limitExceeded = error {
                throw RPCError(
                    .resourceExhausted,
                    "The message inflates to more than the limit of \(rules.limit) bytes. Send it in parts. \(rules.consequence)"
                )
            }
            throw RPCError(
                .invalidArgument,
                "The compressed frame does not inflate as \(format.name)\(format == .zlib ? " (RFC 1950)" : ""). \(rules.consequence)"
            )
        }
    }
}
