// SPDX-License-Identifier: MIT
import CZlib

/// Inflates piece by piece in bounded memory (RFC 1950, RFC 1952; several gzip members may follow one another).
///
/// Invariant: `stream` is initialised for inflating from `init` to `deinit` and stays at one address, because
/// zlib keeps a pointer to it; it is not shared.
public struct InflateStream: ~Copyable {
    public enum Format: Sendable {
        /// RFC 1950, which HTTP and gRPC call deflate.
        case zlib
        /// RFC 1952.
        case gzip
    }

    private let stream: UnsafeMutablePointer<z_stream>
    private let format: Format
    /// Whether the content is complete. Another gzip member may still follow.
    public private(set) var isFinished = false

    public init(format: Format) throws(CompressionError) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let windowBits: Int32 = format == .gzip ? 15 + 16 : 15
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Inflates from `input` to the beginning of `output` until one of them is used up or the content ends.
    ///
    /// - Returns: the bytes read and written. If all were read and none written, more input is needed.
    public mutating func inflate(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) throws(CompressionError) -> (read: Int, written: Int) {
        var room = output.mutableSpan
        return try room.withUnsafeMutableBytes { (output) throws(CompressionError) in
            try input.withUnsafeBytes { (input) throws(CompressionError) in try inflate(input, into: output) }
        }
    }

    private mutating func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CompressionError) -> (read: Int, written: Int) {
        var (read, written) = (0, 0)
        while true {
            if isFinished {
                guard format == .gzip, read < input.count else { return (read, written) }
                guard inflateReset(stream) == Z_OK else { throw .outOfMemory }
                isFinished = false
            }
            let available = min(input.count - read, Int(UInt32.max / 2))
            let room = min(output.count - written, Int(UInt32.max / 2))
            guard available > 0, room > 0, let from = input.baseAddress, let to = output.baseAddress else {
                return (read, written)
            }
            stream.pointee.next_in = UnsafeMutablePointer(mutating: (from + read).assumingMemoryBound(to: Bytef.self))
            stream.pointee.avail_in = uInt(available)
            stream.pointee.next_out = (to + written).assumingMemoryBound(to: Bytef.self)
            stream.pointee.avail_out = uInt(room)
            let status = CZlib.inflate(stream, Z_NO_FLUSH)
            read += available - Int(stream.pointee.avail_in)
            written += room - Int(stream.pointee.avail_out)
            switch status {
            case Z_STREAM_END: isFinished = true
            case Z_OK, Z_BUF_ERROR:
                if stream.pointee.avail_out == 0 || stream.pointee.avail_in == 0 { return (read, written) }
            case Z_MEM_ERROR: throw .outOfMemory
            default: throw .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "the compressed data are damaged")
            }
        }
    }
}
