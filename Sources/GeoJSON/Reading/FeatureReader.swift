// SPDX-License-Identifier: MIT
import Glibc
import JSON
import SystemSupport

/// Reads features from bytes that arrive in pieces of any size: a FeatureCollection, an array of features, features one
/// after another, a JSON text sequence (RFC 8142), or a table with a header (RFC 4180); plain or gzipped.
///
/// One reader serves files, calls and HTTP bodies, so all of them accept and skip the same. Memory is
/// bounded: a window for each thread and one unfinished feature, whatever the length.
public struct FeatureReader: ~Copyable {
    private var input = GzipInput()
    /// Bytes of a file that were read and not cut yet.
    private var unread: [UInt8] = []
    private let cutting: Cutting
    private let parser: ParallelParser

    /// A cutter that a closure may use while another part of the reader is in use. Only the reader has it.
    private final class Cutting {
        var cutter: FeatureCutter

        init(_ cutter: FeatureCutter) { self.cutter = cutter }
    }

    /// - Parameters:
    ///   - threads: the most threads to use.
    ///   - window: the number of bytes to gather before parsing.
    public init(_ format: FeatureFormat = FeatureFormat(), threads: Int = 1, window: Int = 2 << 20) {
        cutting = Cutting(FeatureCutter(format))
        parser = ParallelParser(threads: max(1, threads), window: window)
    }

    /// A reader for a piece of a file that begins at one of `FeatureCuts`' offsets; nil if the file has none.
    ///
    /// - Parameter head: the file's first `FeatureCuts.headSize` bytes.
    public init?(_ format: FeatureFormat, after head: [UInt8], threads: Int = 1, window: Int = 2 << 20) {
        guard let cutter = FeatureCutter(format, after: head) else { return nil }
        cutting = Cutting(cutter)
        parser = ParallelParser(threads: max(1, threads), window: window)
    }

    /// Adds the complete features to a builder. If it throws, the reader and the builder must be discarded.
    ///
    /// - Complexity: O(bytes), about a hundred MB/s per core.
    public mutating func push(_ bytes: Span<UInt8>, into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        var start = 0
        while start < bytes.count {
            do throws(GeoJSONError) {
                start += try cut(bytes.extracting(start...))
            } catch {
                throw firstFault(error, &builder)
            }
            if parser.isFull { try parser.flush(into: &builder) }
        }
    }

    /// Adds the rest when the bytes have ended.
    public mutating func finish(into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        do throws(GeoJSONError) { try cutRest() } catch { throw firstFault(error, &builder) }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        try parser.flush(into: &builder)
        builder.note(isBlank: cutting.cutter.isBlank)
    }

    /// Adds all features of a text. Bytes are cut by one thread at a time while others parse.
    ///
    /// - Parameter read: lends the next bytes to its argument; false at the end. Called by several threads, one at a
    ///   time.
    mutating func readAll(
        into builder: inout FeatureStoreBuilder,
        _ read: ((Span<UInt8>) throws(GeoJSONError) -> Void) throws(GeoJSONError) -> Bool
    ) throws(GeoJSONError) {
        var isAtEnd = false
        // In a short text the reference system is known before the first feature is checked.
        while !parser.isFull, !isAtEnd {
            do throws(GeoJSONError) { isAtEnd = try !cutNext([], read) } catch {
                throw firstFault(error, &builder)
            }
        }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        try parser.flush(into: &builder) { (buffer) throws(GeoJSONError) in
            if !isAtEnd { isAtEnd = try !cutNext(buffer, read) }
            return !isAtEnd
        }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        builder.note(isBlank: cutting.cutter.isBlank)
    }

    /// The first fault of a text that cannot be cut further. An earlier feature may have one.
    private func firstFault(_ error: GeoJSONError, _ builder: inout FeatureStoreBuilder) -> GeoJSONError {
        do throws(GeoJSONError) { try parser.flush(into: &builder) } catch { return error }
        return error
    }

    /// Reads and cuts the next bytes; false at the end.
    private mutating func cutNext(
        _ buffer: consuming [UInt8], _ read: ((Span<UInt8>) throws(GeoJSONError) -> Void) throws(GeoJSONError) -> Bool
    ) throws(GeoJSONError) -> Bool {
        cutting.cutter.spare = buffer
        guard unread.isEmpty else {
            let bytes = unread
            try cutNext(bytes.span)
            return true
        }
        let isMore = try read { (bytes) throws(GeoJSONError) in try cutNext(bytes) }
        if !isMore { try cutRest() }
        return isMore
    }

    /// Cuts bytes and keeps those that are left.
    private mutating func cutNext(_ bytes: Span<UInt8>) throws(GeoJSONError) {
        let count = try cut(bytes)
        unread = [UInt8](copying: bytes.extracting(count...))
    }

    /// - Returns: how many bytes were cut; all if they are not compressed.
    private mutating func cut(_ bytes: Span<UInt8>) throws(GeoJSONError) -> Int {
        let (cutting, parser) = (cutting, parser)
        return try input.push(bytes) { (text) throws(GeoJSONError) in
            try cutting.cutter.push(text) { (piece) throws(GeoJSONError) in parser.take(piece) }
        }
    }

    private mutating func cutRest() throws(GeoJSONError) {
        try input.finish()
        // Copied to locals, because the compiler miscompiles accesses to this struct's members with the
        // thread sanitizer.
        let (cutting, parser) = (cutting, parser)
        try cutting.cutter.finish { (piece) throws(GeoJSONError) in parser.take(piece) }
    }
}

/// Reads a file of features with a `FeatureReader`.
public enum FeatureFileReader {
    /// The number of bytes to read from a file at once.
    ///
    /// This much text stays in a core's cache while it is read, parsed and copied.
    public static let windowSize = 256 << 10

    /// Adds all features of an open file to a builder, from the descriptor's current offset on. If it
    /// throws, the builder must be discarded.
    ///
    /// - Parameters:
    ///   - descriptor: an open, readable file; it stays open.
    ///   - format: what is known about the file's format.
    ///   - threads: the most threads to use.
    ///   - windowSize: the number of bytes to read at once; 1 or more.
    ///   - window: the number of bytes to gather before parsing begins.
    ///   - isCancelled: called once for each read.
    /// - Complexity: O(size), several hundred MB/s per core. Memory for a few windows, whatever the size.
    public static func read(
        descriptor: Int32, format: FeatureFormat = FeatureFormat(), into builder: inout FeatureStoreBuilder,
        threads: Int = 1, windowSize: Int = windowSize, window: Int = 2 << 20, isCancelled: () -> Bool = { false }
    ) throws(GeoJSONError) {
        var reader = FeatureReader(format, threads: threads, window: window)
        var memory = [UInt8](repeating: 0, count: windowSize)
        let size = size(of: descriptor)
        builder.expect(bytes: size)
        var pages = ReadPages(descriptor, size: size)
        try reader.readAll(into: &builder) { (take) throws(GeoJSONError) in
            if isCancelled() { throw .cancelled }
            let count = try read(descriptor, into: &memory)
            pages?.add(count)
            if count > 0 { try take(memory.span.extracting(..<count)) }
            return count > 0
        }
    }

    /// Reads the next bytes; 0 at the end.
    private static func read(_ descriptor: Int32, into window: inout [UInt8]) throws(GeoJSONError) -> Int {
        while true {
            let count = Glibc.read(descriptor, &window, window.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            return count
        }
    }

    /// A file's size in bytes; 0 if the system does not say.
    private static func size(of descriptor: Int32) -> Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// Drops a large file's pages from the system's page cache after they have been read.
///
/// If a file is larger than the cache, its pages are dropped before it could be read again, and meanwhile they
/// push out pages that queries need. A smaller file stays cached.
struct ReadPages {
    private let file: Int32
    /// The offsets in the file before which pages have been dropped, and before which all has been read.
    private var (dropped, read): (Int, Int)

    /// Dropping takes about a millisecond for this many bytes.
    private static let step = 32 << 20

    /// - Parameters:
    ///   - file: an open file, at the offset from which it is read.
    ///   - size: its size in bytes.
    ///   - room: the memory in bytes that the machine can spare; nil if unknown.
    /// - Returns: nil if the file may stay in the cache, or is not a regular file.
    init?(_ file: Int32, size: Int, room: Int? = SystemMemory.process.available) {
        let offset = Int(lseek(file, 0, SEEK_CUR))
        guard let room, size > room / 2, offset >= 0 else { return nil }
        self.file = file
        (dropped, read) = (offset, offset)
    }

    /// Notes that the next bytes have been read; 0 at the file's end.
    mutating func add(_ count: Int) {
        read += count
        guard read - dropped >= Self.step || count == 0, read > dropped else { return }
        _ = posix_fadvise(file, off_t(dropped), off_t(read - dropped), POSIX_FADV_DONTNEED)
        dropped = read
    }
}
