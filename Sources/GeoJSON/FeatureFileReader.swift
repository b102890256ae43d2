// SPDX-License-Identifier: MIT
import Compression
import Dispatch
import Glibc
import JSON

/// Reads a file of features: a FeatureCollection, newline-delimited features, a JSON text sequence
/// (RFC 8142), or one feature; plain or compressed by gzip.
public enum FeatureFileReader {
    /// How much of a file is read at once, in bytes.
    public static let windowSize = 2 << 20

    /// Adds all features of an open file to a builder, from the descriptor's current offset on. Where it
    /// throws, the builder can only be thrown away.
    ///
    /// - Parameters:
    ///   - descriptor: an open, readable file; it stays open.
    ///   - threads: how many cores may be used.
    ///   - windowSize: how much is read at once, in bytes; 1 or more.
    ///   - isCancelled: asked once every few MiB.
    /// - Complexity: O(size), some hundred MB/s a core; memory for a few windows, whatever the size.
    public static func read(
        descriptor: Int32, into builder: inout FeatureStoreBuilder, threads: Int = 1,
        windowSize: Int = windowSize, isCancelled: () -> Bool = { false }
    ) throws(GeoJSONError) {
        var reader = FeatureTextReader()
        var crew = ParserCrew(threads: max(1, threads), builder: builder)
        var source = try WindowSource(descriptor: descriptor, windowSize: windowSize)
        var failure: GeoJSONError?
        while failure == nil {
            if isCancelled() { throw .cancelled }
            let more = try source.withNextWindow { window in
                do throws(GeoJSONError) {
                    try reader.push(window) { (piece) throws(GeoJSONError) in
                        try crew.take(piece, into: &builder)
                    }
                } catch { failure = error }
            }
            if !more { break }
        }
        if let failure { throw failure }
        try reader.finish { (piece) throws(GeoJSONError) in try crew.take(piece, into: &builder) }
        try crew.flush(into: &builder)
    }
}

/// Windows of a file's content, inflated where it is compressed.
private struct WindowSource: ~Copyable {
    private let descriptor: Int32
    private var raw: [UInt8]
    private var rawCount = 0
    private var rawPlace = 0
    private var window: [UInt8]
    private var inflater: InflateStream?
    private var isAtEnd = false

    init(descriptor: Int32, windowSize: Int) throws(GeoJSONError) {
        self.descriptor = descriptor
        raw = [UInt8](repeating: 0, count: windowSize)
        window = []
        try fill()
        if rawCount >= 2, raw[0] == 0x1F, raw[1] == 0x8B {
            window = [UInt8](repeating: 0, count: windowSize)
            do throws(CompressionError) { inflater = try InflateStream(format: .gzip) } catch {
                throw .damaged("out of memory")
            }
        }
    }

    private mutating func fill() throws(GeoJSONError) {
        rawPlace = 0
        rawCount = 0
        while rawCount < raw.count {
            let got = raw.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + rawCount }, buffer.count - rawCount)
            }
            if got > 0 {
                rawCount += got
            } else if got == 0 {
                isAtEnd = true
                return
            } else if errno != EINTR {
                throw .unreadable(errno)
            }
        }
    }

    /// Lends the next window; false where there is none any more.
    mutating func withNextWindow(_ body: (UnsafeRawBufferPointer) -> Void) throws(GeoJSONError) -> Bool {
        if inflater != nil { return try withInflated(body) }
        if rawPlace == rawCount {
            if isAtEnd { return false }
            try fill()
        }
        raw.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[rawPlace..<rawCount])) }
        rawPlace = rawCount
        return true
    }

    private mutating func withInflated(_ body: (UnsafeRawBufferPointer) -> Void) throws(GeoJSONError) -> Bool
    {
        var written = 0
        while written < window.count {
            if rawPlace == rawCount {
                if isAtEnd { break }
                try fill()
                if rawCount == 0 { break }
            }
            var failure: CompressionError?
            var step = (read: 0, written: 0)
            raw.withUnsafeBytes { input in
                window.withUnsafeMutableBytes { output in
                    do throws(CompressionError) {
                        step =
                            try inflater?.inflate(
                                UnsafeRawBufferPointer(rebasing: input[rawPlace..<rawCount]),
                                into: UnsafeMutableRawBufferPointer(rebasing: output[written...])) ?? (0, 0)
                    } catch { failure = error }
                }
            }
            if let failure { throw .damaged(failure.message) }
            rawPlace += step.read
            written += step.written
        }
        if written == 0 {
            guard inflater?.isFinished ?? true else { throw .damaged("it ends early") }
            return false
        }
        window.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<written])) }
        return true
    }
}

/// Parses as many pieces at once as there are threads, and adds them in their order.
private struct ParserCrew: ~Copyable {
    private let parsers: [FeatureParser]
    private let results: [ParsedFeatures]
    private var waiting: [PieceText] = []

    /// A piece as an array's text. `texts` is how many lines it was made of, where it was made of lines.
    private struct PieceText {
        var array: [UInt8]
        var texts: [Range<Int>]?
    }

    /// Carries the crew's parts to threads that each use those of one index only.
    private struct Shared: @unchecked Sendable {
        let parsers: [FeatureParser]
        let results: [ParsedFeatures]
        let pieces: [PieceText]
        let errors: UnsafeMutablePointer<JSONError?>
    }

    init(threads: Int, builder: borrowing FeatureStoreBuilder) {
        var parsers: [FeatureParser] = []
        var results: [ParsedFeatures] = []
        for _ in 0..<threads {
            parsers.append(builder.makeParser())
            results.append(builder.makeResult())
        }
        (self.parsers, self.results) = (parsers, results)
    }

    mutating func take(
        _ piece: FeatureTextReader.Piece, into builder: inout FeatureStoreBuilder
    ) throws(GeoJSONError) {
        switch piece {
        case .array(let bytes):
            var array: [UInt8] = []
            array.reserveCapacity(bytes.count + 2)
            array.append(UInt8(ascii: "["))
            array.append(contentsOf: bytes)
            array.append(UInt8(ascii: "]"))
            waiting.append(PieceText(array: array, texts: nil))
        case .texts(let bytes, let separator):
            let piece = Self.join(bytes, separator)
            if piece.texts?.isEmpty ?? true { return }
            waiting.append(piece)
        }
        if waiting.count == parsers.count { try flush(into: &builder) }
    }

    /// Puts texts into one array, and remembers where each lies in it.
    private static func join(_ bytes: UnsafeRawBufferPointer, _ separator: UInt8) -> PieceText {
        var array: [UInt8] = [UInt8(ascii: "[")]
        array.reserveCapacity(bytes.count + 2)
        var texts: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            let length = rest.firstIndex(of: separator) ?? rest.count
            let text = rest[..<length]
            if text.contains(where: { $0 > UInt8(ascii: " ") }) {
                if !texts.isEmpty { array.append(UInt8(ascii: ",")) }
                texts.append(array.count..<array.count + length)
                array.append(contentsOf: text)
            }
            start += length + 1
        }
        array.append(UInt8(ascii: "]"))
        return PieceText(array: array, texts: texts)
    }

    mutating func flush(into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        guard !waiting.isEmpty else { return }
        let count = waiting.count
        var errors = [JSONError?](repeating: nil, count: count)
        errors.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            let shared = Shared(parsers: parsers, results: results, pieces: waiting, errors: base)
            if count == 1 {
                Self.parse(0, shared)
            } else {
                DispatchQueue.concurrentPerform(iterations: count) { Self.parse($0, shared) }
            }
        }
        for index in 0..<count { try add(index, errors[index], into: &builder) }
        waiting.removeAll(keepingCapacity: true)
    }

    private static func parse(_ index: Int, _ shared: Shared) {
        shared.results[index].removeAll()
        do throws(JSONError) {
            try shared.pieces[index].array.withTypedBytes { (bytes) throws(JSONError) in
                try shared.parsers[index].parse(bytes, into: shared.results[index])
            }
        } catch { shared.errors[index] = error }
    }

    private func add(
        _ index: Int, _ error: JSONError?, into builder: inout FeatureStoreBuilder
    ) throws(GeoJSONError) {
        let piece = waiting[index]
        guard let texts = piece.texts else {
            if let error { throw .malformed(message: error.message, offset: nil) }
            return try builder.add(results[index])
        }
        if error == nil, results[index].seen == texts.count { return try builder.add(results[index]) }
        // A text that is no JSON spoils the array of all: each is read by itself.
        for text in texts {
            results[index].removeAll()
            var failed = false
            do throws(JSONError) {
                try Array(piece.array[text]).withTypedBytes { (bytes) throws(JSONError) in
                    try parsers[index].parse(bytes, into: results[index])
                }
            } catch { failed = true }
            if failed { try builder.addUnreadable() } else { try builder.add(results[index]) }
        }
    }
}

extension [UInt8] {
    /// `withUnsafeBytes` that keeps the error's type.
    fileprivate func withTypedBytes<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var failure: Failure?
        withUnsafeBytes { bytes in
            do throws(Failure) { try body(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
