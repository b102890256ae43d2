// SPDX-License-Identifier: MIT
import CZlib

/// zlib's compression and checksum over whole buffers.
public enum Zlib {
    /// Inflates a whole zlib or gzip stream.
    ///
    /// - Parameter limit: the maximum size of the content in bytes, which bounds the cost of any input.
    public static func inflate(
        _ bytes: Span<UInt8>, format: InflateStream.Format = .zlib, limit: Int
    ) throws(CompressionError) -> [UInt8] {
        var stream = try InflateStream(format: format)
        var content: [UInt8] = []
        var read = 0
        var chunk = [UInt8](repeating: 0, count: min(max(bytes.count * 4, 4096), 1 << 18))
        while true {
            let step = try stream.inflate(bytes.extracting(read...), into: &chunk)
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
        try inflate(bytes.span, format: format, limit: limit)
    }

    /// Compresses to a zlib stream (RFC 1950).
    ///
    /// - Parameter level: 1 (fast) to 9 (small).
    public static func deflate(_ bytes: UnsafeRawBufferPointer, level: Int = 1) throws(CompressionError) -> [UInt8] {
        let bound = Int(compressBound(uLong(bytes.count)))
        var failure = false
        let compressed = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            var length = uLongf(bound)
            var nothing: UInt8 = 0
            let status = withUnsafePointer(to: &nothing) { nothing in
                compress2(
                    output.baseAddress, &length, bytes.baseAddress?.assumingMemoryBound(to: Bytef.self) ?? nothing,
                    uLong(bytes.count), Int32(clamping: min(max(level, 1), 9)))
            }
            failure = status != Z_OK
            count = failure ? 0 : Int(length)
        }
        if failure { throw .outOfMemory }
        return compressed
    }

    public static func deflate(_ bytes: [UInt8], level: Int = 1) throws(CompressionError) -> [UInt8] {
        try bytes.span.bytes.withUnsafeBytes { (bytes) throws(CompressionError) in try deflate(bytes, level: level) }
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
    public static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        let bytes = bytes.extracting(first: mostBytes)
        output.append(contentsOf: head)
        let count = UInt16(truncatingIfNeeded: bytes.count)
        append(count, to: &output)
        append(~count, to: &output)
        bytes.withUnsafeBytes { output.append(contentsOf: $0) }
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

extension Zlib {
    public static func crc32(_ bytes: Span<UInt8>, from start: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { crc32($0, from: start) }
    }

    public static func deflate(_ bytes: Span<UInt8>, level: Int = 1) throws(CompressionError) -> [UInt8] {
        try bytes.withUnsafeBytes { (bytes) throws(CompressionError) in try deflate(bytes, level: level) }
    }

    /// Compresses to a gzip stream (RFC 1952).
    public static func gzip(_ bytes: Span<UInt8>, level: Int) throws(CompressionError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count / 3 + 64)
        var stream = try DeflateStream(format: .gzip, level: level)
        _ = try stream.compress(bytes, appendingTo: &output)
        return output
    }
}
