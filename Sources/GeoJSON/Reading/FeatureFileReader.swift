// SPDX-License-Identifier: MIT
import Glibc

/// Reads a file of features with a `FeatureReader`.
public enum FeatureFileReader {
    /// How much of a file is read at once, in bytes.
    public static let windowSize = 2 << 20

    /// Adds all features of an open file to a builder, from the descriptor's current offset on. Where it
    /// throws, the builder can only be thrown away.
    ///
    /// - Parameters:
    ///   - descriptor: an open, readable file; it stays open.
    ///   - format: what is known of the file's form.
    ///   - threads: how many cores may be used.
    ///   - windowSize: how much is read at once, in bytes; 1 or more.
    ///   - isCancelled: asked once every few MiB.
    /// - Complexity: O(size), some hundred MB/s a core; memory for a few windows, whatever the size.
    public static func read(
        descriptor: Int32, format: FeatureFormat = FeatureFormat(), into builder: inout FeatureStoreBuilder,
        threads: Int = 1, windowSize: Int = windowSize, isCancelled: () -> Bool = { false }
    ) throws(GeoJSONError) {
        var reader = FeatureReader(format, threads: threads, window: windowSize)
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: windowSize, alignment: 64)
        defer { window.deallocate() }
        while true {
            if isCancelled() { throw .cancelled }
            let count = Glibc.read(descriptor, window.baseAddress, window.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(errno) }
            if count == 0 { break }
            try reader.push(UnsafeRawBufferPointer(rebasing: window[..<count]), into: &builder)
        }
        try reader.finish(into: &builder)
    }
}
