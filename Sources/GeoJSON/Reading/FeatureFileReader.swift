// SPDX-License-Identifier: MIT
import Glibc

/// Reads a file of features with a `FeatureReader`.
public enum FeatureFileReader {
    /// How much of a file is read at once, in bytes.
    ///
    /// What a thread reads, parses and copies at once stays in its core's cache.
    public static let windowSize = 256 << 10

    /// Adds all features of an open file to a builder, from the descriptor's current offset on. Where it
    /// throws, the builder can only be thrown away.
    ///
    /// - Parameters:
    ///   - descriptor: an open, readable file; it stays open.
    ///   - format: what is known of the file's form.
    ///   - threads: how many cores may be used.
    ///   - windowSize: how much is read at once, in bytes; 1 or more.
    ///   - window: how many bytes are gathered before the first are parsed.
    ///   - isCancelled: called once every few MiB.
    /// - Complexity: O(size), some hundred MB/s a core; memory for a few windows, whatever the size.
    public static func read(
        descriptor: Int32, format: FeatureFormat = FeatureFormat(), into builder: inout FeatureStoreBuilder,
        threads: Int = 1, windowSize: Int = windowSize, window: Int = 2 << 20,
        isCancelled: () -> Bool = { false }
    ) throws(GeoJSONError) {
        var reader = FeatureReader(format, threads: threads, window: window)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: windowSize, alignment: 64)
        defer { memory.deallocate() }
        builder.expect(bytes: size(of: descriptor))
        try reader.readAll(into: &builder) { (take) throws(GeoJSONError) in
            if isCancelled() { throw .cancelled }
            let count = try read(descriptor, into: memory)
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
