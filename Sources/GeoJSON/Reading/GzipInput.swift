// SPDX-License-Identifier: MIT
import Compression

/// Inflates bytes that begin like gzip (RFC 1952), and passes others on.
struct GzipInput: ~Copyable {
    private enum State { case start, plain, gzip }

    private static let windowSize = 1 << 20

    private var state = State.start
    /// The bytes received before there were two.
    private var head: [UInt8] = []
    private var inflater: InflateStream?
    private var window: [UInt8] = []

    typealias Body = (UnsafeRawBufferPointer) throws(GeoJSONError) -> Void

    mutating func push(_ bytes: UnsafeRawBufferPointer, _ body: Body) throws(GeoJSONError) {
        switch state {
        case .plain: try body(bytes)
        case .gzip: try inflate(bytes, body)
        case .start:
            head.append(contentsOf: bytes)
            guard head.count >= 2 else { return }
            let isGzip = head[0] == 0x1F && head[1] == 0x8B
            if isGzip { try begin() }
            state = isGzip ? .gzip : .plain
            let head = head
            self.head = []
            var failure: GeoJSONError?
            head.withUnsafeBytes { head in
                do throws(GeoJSONError) { try push(head, body) } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }

    /// Ends the input.
    ///
    /// A single remaining byte is dropped, since it cannot be a text of features.
    mutating func finish() throws(GeoJSONError) {
        if case .gzip = state, !(inflater?.isFinished ?? true) { throw .damaged("it ends early") }
        if case .start = state, head.contains(where: { $0 > 0x20 }) {
            throw .malformed(message: "The text is too short to hold features.", offset: 0)
        }
    }

    private mutating func begin() throws(GeoJSONError) {
        window = [UInt8](repeating: 0, count: Self.windowSize)
        do throws(CompressionError) { inflater = try InflateStream(format: .gzip) } catch {
            throw .damaged("out of memory")
        }
    }

    private mutating func inflate(_ bytes: UnsafeRawBufferPointer, _ body: Body) throws(GeoJSONError) {
        var place = 0
        while true {
            var failure: CompressionError?
            var step = (read: 0, written: 0)
            window.withUnsafeMutableBytes { output in
                do throws(CompressionError) {
                    let input = UnsafeRawBufferPointer(rebasing: bytes[place...])
                    step = try inflater?.inflate(input, into: output) ?? (0, 0)
                } catch { failure = error }
            }
            if let failure { throw .damaged(failure.message) }
            place += step.read
            if step.written > 0 { try hand(step.written, body) }
            if step.read == 0, step.written == 0 { return }
            if place == bytes.count, step.written < window.count { return }
        }
    }

    private func hand(_ count: Int, _ body: Body) throws(GeoJSONError) {
        var failure: GeoJSONError?
        window.withUnsafeBytes { window in
            do throws(GeoJSONError) {
                try body(UnsafeRawBufferPointer(rebasing: window[..<count]))
            } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
