// SPDX-License-Identifier: MIT
import CZlib

/// zlib's compression and checksum over whole buffers.
public enum Zlib {
    /// Inflates a whole zlib or gzip stream.
    ///
    /// - Parameter limit: the maximum size of the content in bytes, which bounds the cost of any input.
    public static func inflate(
        _ bytes: UnsafeRawBufferPointer, format: InflateStream.Format = .zlib, limit: Int
    ) throws(CompressionError) -> [UInt8] {
        var stream = try InflateStream(format: format)
        var content: [UInt8] = []
        var read = 0
        var chunk = [UInt8](repeating: 0, count: min(max(bytes.count * 4, 4096), 1 << 18))
        while true {
            var room = chunk.mutableSpan
            let step = try room.withUnsafeMutableBytes { (output) throws(CompressionError) in
                try stream.inflate(UnsafeRawBufferPointer(rebasing: bytes[read...]), into: output)
            }
            read += step.read
            guard content.count + step.written <= limit else { throw .limitExceeded(limit) }
            content.append(contentsOf: chunk[..<step.written])
            if stream.isFinished && read == bytes.count { return content }
            if stream.isFinished { throw .damaged("bytes follow the compressed data") }
            if step.read == 0 && step.written == 0 { throw .truncated }
        }
    }

    public static func inflate(
        _ bytes: [UInt8], format: InflateStream.Format = .zlib, limit: Int
    ) throws(CompressionError) -> [UInt8] {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(CompressionError) in
            try inflate(bytes, format: format, limit: limit)
        }
    }

    /// Compresses to a zlib stream (RFC 1950).
    ///
    /// - Parameter level: 1 (fast) to 9 (small).
    public static func deflate(_ bytes: UnsafeRawBufferPointer, level: Int = 1) throws(CompressionError)
        -> [UInt8]
    {
        let bound = Int(compressBound(uLong(bytes.count)))
        var failure = false
        let compressed = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            var length = uLongf(bound)
            var nothing: UInt8 = 0
            let status = withUnsafePointer(to: &nothing) { nothing in
                compress2(
                    output.baseAddress, &length,
                    bytes.baseAddress?.assumingMemoryBound(to: Bytef.self) ?? nothing,
                    uLong(bytes.count), Int32(clamping: min(max(level, 1), 9)))
            }
            failure = status != Z_OK
            count = failure ? 0 : Int(length)
        }
        if failure { throw .outOfMemory }
        return compressed
    }

    public static func deflate(_ bytes: [UInt8], level: Int = 1) throws(CompressionError) -> [UInt8] {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(CompressionError) in
            try deflate(bytes, level: level)
        }
    }

    /// The CRC-32 of bytes (ISO 3309), continued from `start`. About one gigabyte per second.
    public static func crc32(_ bytes: UnsafeRawBufferPointer, from start: UInt32 = 0) -> UInt32 {
        UInt32(
            truncatingIfNeeded: crc32_z(
                uLong(start), bytes.baseAddress?.assumingMemoryBound(to: Bytef.self), bytes.count))
    }
}

/// Why bytes could not be compressed or inflated.
public enum CompressionError: Error, Sendable, Equatable {
    /// The bytes violate their format. The message is zlib's or this module's.
    case damaged(String)
    /// The compressed bytes end before their content is complete.
    case truncated
    /// The content is larger than the limit in bytes; nothing beyond the limit was inflated.
    case limitExceeded(Int)
    case outOfMemory

    /// A message for people, to be written after the name of the input.
    public var message: String {
        switch self {
        case .damaged(let message): message
        case .truncated: "it ends early"
        case .limitExceeded(let limit): "it holds more than \(limit) bytes"
        case .outOfMemory: "out of memory"
        }
    }
}

/// Inflates in parts in bounded memory (RFC 1950, RFC 1952; several gzip members may follow one
/// another).
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
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else {
            stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Inflates from `input` into `output` until one of them is used up or the content ends.
    ///
    /// - Returns: the bytes read and written. If all were read and none written, more input is needed.
    public mutating func inflate(
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
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: (from + read).assumingMemoryBound(to: Bytef.self))
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
            default:
                throw .damaged(
                    stream.pointee.msg.map { String(cString: $0) } ?? "the compressed data are damaged")
            }
        }
    }
}

/// Compresses buffers one after another and reuses its memory, about 256 KiB, for each.
///
/// The same bytes always give the same compressed bytes: the gzip header contains no name and no time.
///
/// Invariant: `stream` is initialised for deflating from `init` to `deinit` and stays at one address, because
/// zlib keeps a pointer to it; it is not shared.
public struct DeflateStream: ~Copyable {
    private let stream: UnsafeMutablePointer<z_stream>

    /// The number of input bytes compressed between two calls of `isCancelled`: about ten milliseconds of
    /// work.
    private static let stepSize = 1 << 18

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
        _ bytes: UnsafeRawBufferPointer, appendingTo output: inout [UInt8],
        isCancelled: () -> Bool = { false }
    ) throws(CompressionError) -> Bool {
        guard deflateReset(stream) == Z_OK else { throw .outOfMemory }
        var start = 0
        repeat {
            let end = min(bytes.count, start + Self.stepSize)
            let step = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            try deflate(step, isLast: end == bytes.count, appendingTo: &output)
            start = end
            if start < bytes.count, isCancelled() { return false }
        } while start < bytes.count
        return true
    }

    private func deflate(
        _ step: UnsafeRawBufferPointer, isLast: Bool, appendingTo output: inout [UInt8]
    ) throws(CompressionError) {
        // zlib rejects a null pointer, even if there are no bytes.
        var nothing: UInt8 = 0
        try withUnsafeMutablePointer(to: &nothing) { (nothing) throws(CompressionError) in
            let base = UnsafeMutableRawPointer(mutating: step.baseAddress)
            stream.pointee.next_in = base?.assumingMemoryBound(to: Bytef.self) ?? nothing
            stream.pointee.avail_in = uInt(step.count)
            let bound = Int(deflateBound(stream, uLong(step.count)))
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

/// Wraps bytes as gzip without compressing them (RFC 1952; RFC 1951, section 3.2.4).
///
/// Up to about 160 bytes, a tile compresses to no fewer bytes, and compressing takes ten times the work,
/// because a code must be made for each tile.
public enum StoredGzip {
    /// The maximum number of bytes in one block.
    public static let mostBytes = 65_535

    /// Appends the gzip form, which is 23 bytes longer than the bytes.
    ///
    /// - Parameter bytes: at most `mostBytes`; further bytes are ignored.
    public static func append(_ bytes: UnsafeRawBufferPointer, to output: inout [UInt8]) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(mostBytes))
        output.append(contentsOf: head)
        let count = UInt16(truncatingIfNeeded: bytes.count)
        append(count, to: &output)
        append(~count, to: &output)
        output.append(contentsOf: bytes)
        append(Zlib.crc32(bytes), to: &output)
        append(UInt32(truncatingIfNeeded: bytes.count), to: &output)
    }

    /// The gzip header, without a name or time and with an unknown system, then the header of a single, last,
    /// stored block.
    private static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1]

    private static func append(_ number: some FixedWidthInteger, to output: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { output.append(contentsOf: $0) }
    }
}
