// SPDX-License-Identifier: MIT
import Compression

/// Inflates bytes that begin like gzip (RFC 1952), and passes others on.
struct GzipInput: ~Copyable {
    private enum State { case start, plain, gzip }

    static let windowSize = 1 << 20

    private var state = State.start
    /// The byte received before there were two.
    private var first: UInt8?
    private var inflater: InflateStream?
    private var window: [UInt8] = []

    typealias Body = (Span<UInt8>) throws(GeoJSONError) -> Void

    /// Takes in bytes up to those that fill a window: a few compressed bytes may stand for a thousand times as many.
    ///
    /// - Parameter body: gets their text, of at most `windowSize` bytes if they are compressed.
    /// - Returns: how many bytes were taken in; the caller passes the rest again.
    mutating func push(_ bytes: Span<UInt8>, _ body: Body) throws(GeoJSONError) -> Int {
        switch state {
        case .plain:
            try body(bytes)
            return bytes.count
        case .gzip: return try inflate(bytes, body)
        case .start: return try begin(bytes, body)
        }
    }

    /// Ends the input.
    ///
    /// A single remaining byte is dropped, since it cannot be a text of features.
    mutating func finish() throws(GeoJSONError) {
        if case .gzip = state, !(inflater?.isFinished ?? true) { throw .damaged("it ends early") }
        if case .start = state, let first, first > 0x20 {
            throw .malformed(message: "The text is too short to hold features.", offset: 0)
        }
    }

    private mutating func begin(_ bytes: Span<UInt8>, _ body: Body) throws(GeoJSONError) -> Int {
        guard !bytes.isEmpty else { return 0 }
        let next = bytes[0]
        guard let first else {
            guard bytes.count > 1 else {
                first = next
                return 1
            }
            try begin(isGzip: next == 0x1F && bytes[1] == 0x8B)
            return try push(bytes, body)
        }
        try begin(isGzip: first == 0x1F && next == 0x8B)
        let beginning = [first]
        _ = try push(beginning.span, body)
        return try push(bytes, body)
    }

    private mutating func begin(isGzip: Bool) throws(GeoJSONError) {
        state = isGzip ? .gzip : .plain
        guard isGzip else { return }
        window = [UInt8](repeating: 0, count: Self.windowSize)
        do throws(CompressionError) { inflater = try InflateStream(format: .gzip) } catch {
            throw .damaged("out of memory")
        }
    }

    private mutating func inflate(_ bytes: Span<UInt8>, _ body: Body) throws(GeoJSONError) -> Int {
        var step = (read: 0, written: 0)
        do throws(CompressionError) {
            step = try inflater?.inflate(bytes, into: &window) ?? step
        } catch {
            throw .damaged(error.message)
        }
        if step.written > 0 { try body(window.span.extracting(..<step.written)) }
        return step.read == 0 && step.written == 0 ? bytes.count : step.read
    }
}
