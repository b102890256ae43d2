// SPDX-License-Identifier: MIT
import Dispatch

/// Reads features from bytes that come in pieces of any size: a FeatureCollection, an array of features, features one
/// after another, a JSON text sequence (RFC 8142), or a table with a header (RFC 4180); plain or gzipped.
///
/// One reader serves files, calls and HTTP bodies, so all of them accept and skip the same. Memory is bounded: a window
/// for each thread and one unfinished feature, whatever the length.
public struct FeatureReader: ~Copyable {
    private var input = GzipInput()
    private let cutting: Cutting
    private let crew: ParserCrew

    /// A cutter that a closure may use while another part of the reader is in use. Only the reader has it.
    private final class Cutting {
        var cutter: FeatureCutter

        init(_ format: FeatureFormat) { cutter = FeatureCutter(format) }
    }

    /// - Parameters:
    ///   - threads: how many cores may be used.
    ///   - window: how many bytes are gathered before they are parsed.
    public init(_ format: FeatureFormat = FeatureFormat(), threads: Int = 1, window: Int = 2 << 20) {
        cutting = Cutting(format)
        crew = ParserCrew(threads: max(1, threads), window: window)
    }

    /// Adds the features that are whole to a builder. If it throws, reader and builder can only be thrown away.
    ///
    /// - Complexity: O(bytes), about a hundred MB/s a core.
    public mutating func push(
        _ bytes: UnsafeRawBufferPointer, into builder: inout FeatureStoreBuilder
    ) throws(GeoJSONError) {
        let (cutting, crew) = (cutting, crew)
        try input.push(bytes) { (text) throws(GeoJSONError) in
            try cutting.cutter.push(text) { (piece) throws(GeoJSONError) in
                try crew.take(piece, into: &builder)
            }
        }
    }

    /// Adds what is left when the bytes have ended.
    public mutating func finish(into builder: inout FeatureStoreBuilder) throws(GeoJSONError) {
        try input.finish()
        let crew = crew
        try cutting.cutter.finish { (piece) throws(GeoJSONError) in try crew.take(piece, into: &builder) }
        builder.note(foreignReferenceSystem: cutting.cutter.foreignReferenceSystem)
        try crew.flush(into: &builder)
    }
}
