// SPDX-License-Identifier: MIT
import CZlib

/// Compresses buffers one after another and reuses its memory, about 256 KiB, for each.
///
/// The same bytes always give the same compressed bytes: the gzip header contains no name and no time.
///
/// Invariant: `stream` is initialised for deflating from `init` to `deinit` and stays at one address, because
/// zlib keeps a pointer to it; it is not shared.
public struct DeflateStream: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    /// The number of input bytes compressed between two calls of `isCancelled`: about ten milliseconds of work.
    private static let pieceSize = 1 << 18

    /// - Parameters:
    ///   - format: zlib (RFC 1950) or gzip (RFC 1952).
    ///   - level: 1 (fast) to 9 (small).
    public init(format: InflateStream.Format, level: Int = 6) throws(CompressionError) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let windowBits: Int32 = format == .gzip ? 15 + 16 : 15
        let status = deflateInit2_(
            stream, Int32(clamping: min(max(level, 1), 9)), Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Appends the compressed form of a whole buffer.
    ///
    /// - Parameter isCancelled: checked after every 256 KiB.
    /// - Returns: false if the work was cancelled; `output` then contains an incomplete stream.
    public mutating func compress(
        _ bytes: Span<UInt8>, appendingTo output: inout [UInt8], isCancelled: () -> Bool = { false }
    ) throws(CompressionError) -> Bool {
        guard deflateReset(stream) == Z_OK else { throw .outOfMemory }
        var start = 0
        repeat {
            let end = min(bytes.count, start + Self.pieceSize)
            let isLast = end == bytes.count
            try bytes.extracting(start..<end).withUnsafeBytes { (piece) throws(CompressionError) in
                try deflate(piece, isLast: isLast, appendingTo: &output)
            }
            start = end
            if start < bytes.count, isCancelled() { return false }
        } while start < bytes.count
        return true
    }

    /// Appends the compressed form of a part of one stream; not for a stream that also compresses whole buffers.
    public mutating func compress(
        part: Span<UInt8>, isLast: Bool, appendingTo output: inout [UInt8]
    ) throws(CompressionError) {
        try part.withUnsafeBytes { (piece) throws(CompressionError) in
            try deflate(piece, isLast: isLast, appendingTo: &output)
        }
    }

    private func deflate(
        _ piece: UnsafeRawBufferPointer, isLast: Bool, appendingTo output: inout [UInt8]
    ) throws(CompressionError) {
        // zlib rejects a null pointer, even if there are no bytes.
        var nothing: UInt8 = 0
        try withUnsafeMutablePointer(to: &nothing) { (nothing) throws(CompressionError) in
            let base = UnsafeMutableRawPointer(mutating: piece.baseAddress)
            stream.pointee.next_in = base?.assumingMemoryBound(to: Bytef.self) ?? nothing
            stream.pointee.avail_in = uInt(piece.count)
            let bound = Int(deflateBound(stream, uLong(piece.count)))
            var status = Z_OK
            repeat {
                let chunk = [UInt8](unsafeUninitializedCapacity: max(bound, 64)) { room, count in
                    stream.pointee.next_out = room.baseAddress
                    stream.pointee.avail_out = uInt(room.count)
                    status = CZlib.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    count = room.count - Int(stream.pointee.avail_out)
                }
                output.append(contentsOf: chunk)
            } while status == Z_OK && (isLast || stream.pointee.avail_in > 0)
            let isDone = isLast ? status == Z_STREAM_END : status == Z_OK || status == Z_BUF_ERROR
            guard isDone else { throw .outOfMemory }
        }
    }
}
