// SPDX-License-Identifier: MIT

/// Reads features from bytes that arrive in pieces of any size: a FeatureCollection, an array of features,
/// features one after another, a JSON text sequence (RFC 8142), or a table with a header (RFC 4180); plain or
/// gzipped.
///
/// One reader serves files, calls and HTTP bodies, so all of them accept and skip the same. Memory is
/// bounded: a window for each thread and one unfinished feature, whatever the length.
public struct FeatureReader: ~Copyable {
    private var input = GzipInput()
    /// Bytes of a file that were read and not cut yet.
    private var unread = Unread()
    private let cutting: Cutting
    private let crew: ParallelParser

    /// A cutter that a closure may use while another part of the reader is in use. Only the reader has it.
    private final class Cutting {
        var cutter: FeatureCutter

        init(_ format: FeatureFormat) { cutter = FeatureCutter(format) }
    }

    private struct Unread {
        var bytes: [UInt8] = []
        var place = 0
        var isEmpty: Bool { place == bytes.count }
    }

    /// - Parameters:
    ///   - threads: the most threads to use.
    ///   - window: the number of bytes to gather before parsing.
    public init(_ format: FeatureFormat = FeatureFormat(), threads: Int = 1, window: Int = 2 << 20) {
        cutting = Cutting(format)
        crew = ParallelParser(threads: max(1, threads), window: window)
    }

    /// Adds the complete features to a builder. If it throws, the reader and the builder must be discarded.
    ///
    /// - Complexity: O(bytes), about a hundred MB/s per core.
    public mutating func push(
        _ bytes: UnsafeRawBufferPointer, into builder: inout FeatureStoreBuilder
    ) throws(GeoJSONError) {
        var buffer: [UInt8]?
        var place = 0
        while place < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
            do throws(GeoJSONError) { place += try cut(rest, &buffer) } catch {
                throw firstFault(error, &builder)
            }
            if crew.isFull { try crew.flush(into: &builder) }
        }
    }

    /// Adds the rest when the bytes have ended.
    public mutating func finish(into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        do throws(GeoJSONError) { try cutRest() } catch { throw firstFault(error, &builder) }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        try crew.flush(into: &builder)
        builder.note(isBlank: cutting.cutter.isBlank)
    }

    /// Adds all features of a text. Bytes are cut by one thread at a time while others parse.
    ///
    /// - Parameters:
    ///   - windows: returns the rest of the text as windows of a file, if it is one. Then each thread reads
    ///     windows itself.
    ///   - check: called with each window before it is cut; throws to stop.
    ///   - read: lends the next bytes to its argument; false at the end. Called by several threads, one at a
    ///     time.
    mutating func readAll(
        into builder: inout FeatureStoreBuilder, windows: () -> FileWindow.Sequence? = { nil },
        check: (FileWindow) throws(GeoJSONError) -> Void = { _ in },
        _ read: ((UnsafeRawBufferPointer) throws(GeoJSONError) -> Void) throws(GeoJSONError) -> Bool
    ) throws(GeoJSONError) {
        var isAtEnd = false
        // In a short text the reference system is known before the first feature is checked.
        while !crew.isFull, !isAtEnd {
            do throws(GeoJSONError) { isAtEnd = try !cutNext([], read) } catch {
                throw firstFault(error, &builder)
            }
        }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        var windows = input.isPlain && !isAtEnd ? windows() : nil
        var isLastCut = false
        try crew.flush(into: &builder) { (hand) throws(GeoJSONError) in
            if isAtEnd { return .end }
            switch hand {
            case .window(let window):
                guard !isLastCut else { return .again }
                try check(window)
                isLastCut = window.isLast
                return try cut(window)
            case .buffer(let buffer):
                guard windows != nil else {
                    isAtEnd = try !cutNext(buffer, read)
                    return .again
                }
                let isScanned = crew.isParallel && cutting.cutter.usesScans
                if !isLastCut, let window = windows?.next(isScanned: isScanned, reusing: buffer) {
                    return .read(window)
                }
                isAtEnd = true
                try cutRest()
                return .again
            }
        }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        builder.note(isBlank: cutting.cutter.isBlank)
    }

    /// The first fault of a text that cannot be cut further. An earlier feature may have one.
    private func firstFault(
        _ error: GeoJSONError, _ builder: inout FeatureStoreBuilder
    ) -> GeoJSONError {
        do throws(GeoJSONError) { try crew.flush(into: &builder) } catch { return error }
        return error
    }

    /// Reads and cuts the next bytes; false at the end.
    private mutating func cutNext(
        _ buffer: consuming [UInt8],
        _ read: ((UnsafeRawBufferPointer) throws(GeoJSONError) -> Void) throws(GeoJSONError) -> Bool
    ) throws(GeoJSONError) -> Bool {
        var buffer = Optional(buffer)
        guard unread.isEmpty else {
            try cutUnread(&buffer)
            return true
        }
        let isMore = try read { (bytes) throws(GeoJSONError) in
            let count = try cut(bytes, &buffer)
            unread = Unread(bytes: count < bytes.count ? Array(bytes[count...]) : [])
        }
        if !isMore { try cutRest() }
        return isMore
    }

    /// Cuts the next window of a file.
    private mutating func cut(_ window: FileWindow) throws(GeoJSONError) -> PieceWork.Step {
        if let failure = window.failure { throw .unreadable(failure) }
        // A local copy for the same reason as in `cutRest`.
        let cutting = cutting
        if let cut = cutting.cutter.cut(window) { return .cut(cut) }
        var failure: GeoJSONError?
        var buffer: [UInt8]?
        window.text.withUnsafeBytes { bytes in
            do throws(GeoJSONError) { _ = try cut(bytes, &buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        return .again
    }

    private mutating func cutUnread(_ buffer: inout [UInt8]?) throws(GeoJSONError) {
        let unread = unread
        var failure: GeoJSONError?
        unread.bytes.withUnsafeBytes { bytes in
            let rest = UnsafeRawBufferPointer(rebasing: bytes[unread.place...])
            do throws(GeoJSONError) { self.unread.place += try cut(rest, &buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// - Parameter buffer: room for the first piece's text.
    /// - Returns: how many bytes were cut; all if they are not compressed.
    private mutating func cut(
        _ bytes: UnsafeRawBufferPointer, _ buffer: inout [UInt8]?
    ) throws(GeoJSONError) -> Int {
        let (cutting, crew) = (cutting, crew)
        return try input.push(bytes) { (text) throws(GeoJSONError) in
            try cutting.cutter.push(text) { (piece) throws(GeoJSONError) in
                crew.take(piece, buffer: buffer.take() ?? [])
            }
        }
    }

    private mutating func cutRest() throws(GeoJSONError) {
        try input.finish()
        // Copied to locals, because the compiler miscompiles accesses to this struct's members with the
        // thread sanitizer.
        let (cutting, crew) = (cutting, crew)
        try cutting.cutter.finish { (piece) throws(GeoJSONError) in crew.take(piece) }
    }
}
