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
            var failure: CompressionError?
            var step = (read: 0, written: 0)
            chunk.withUnsafeMutableBytes { output in
                do throws(CompressionError) {
                    step = try stream.inflate(UnsafeRawBufferPointer(rebasing: bytes[read...]), into: output)
                } catch { failure = error }
            }
            if let failure { throw failure }
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
        var result: Result<[UInt8], CompressionError> = .success([])
        bytes.withUnsafeBytes { bytes in
            do throws(CompressionError) {
                result = .success(try inflate(bytes, format: format, limit: limit))
            } catch { result = .failure(error) }
        }
        return try result.get()
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
        var result: Result<[UInt8], CompressionError> = .success([])
        bytes.withUnsafeBytes { bytes in
            do throws(CompressionError) { result = .success(try deflate(bytes, level: level)) } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// The CRC-32 of bytes (ISO 3309), continued from `start`. About one gigabyte per second.
    public static func crc32(_ bytes: UnsafeRawBufferPointer, from start: UInt32 = 0) -> UInt32 {
        UInt32(
            truncatingIfNeeded: crc32_z(
                uLong(start), bytes.baseAddress?.assumingMemoryBound(to: Bytef.self), bytes.count))
    }
}
