// SPDX-License-Identifier: MIT
import Glibc

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
    ///   - isCancelled: called once every few MiB.
    /// - Complexity: O(size), several hundred MB/s per core. Memory for a few windows, whatever the size.
    public static func read(
        descriptor: Int32, format: FeatureFormat = FeatureFormat(), into builder: inout FeatureStoreBuilder,
        threads: Int = 1, windowSize: Int = windowSize, window: Int = 2 << 20,
        isCancelled: () -> Bool = { false }
    ) throws(GeoJSONError) {
        var reader = FeatureReader(format, threads: threads, window: window)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: windowSize, alignment: 64)
        defer { memory.deallocate() }
        let size = size(of: descriptor)
        builder.expect(bytes: size)
        let pages = ReadPages(descriptor, size: size)
        try reader.readAll(
            into: &builder, windows: { FileWindow.Sequence(of: descriptor, size: windowSize) },
            check: { (window) throws(GeoJSONError) in
                if isCancelled() { throw .cancelled }
                pages?.add(window.text.count)
                if window.isLast { pages?.add(0) }
            }
        ) { (take) throws(GeoJSONError) in
            if isCancelled() { throw .cancelled }
            let count = try read(descriptor, into: memory)
            pages?.add(count)
            if count > 0 { try take(UnsafeRawBufferPointer(rebasing: memory[..<count])) }
            return count > 0
        }
    }

    /// Reads the next bytes; 0 at the end.
    private static func read(
        _ descriptor: Int32, into window: UnsafeMutableRawBufferPointer
    ) throws(GeoJSONError) -> Int {
        while true {
            let count = Glibc.read(descriptor, window.baseAddress, window.count)
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
