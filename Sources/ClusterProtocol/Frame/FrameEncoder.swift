// SPDX-License-Identifier: MIT
import Compression
import JSON

/// Adds a frame's prefix to a message that is written directly into the outgoing bytes.
public struct FrameEncoder {
    private let start: Int

    /// Leaves room for the prefix; the message follows.
    public init(beginningIn bytes: inout ByteWriter) {
        start = bytes.count
        bytes.append("\0\0\0\0\0")
    }

    /// Continues a frame that was begun earlier.
    ///
    /// - Parameter start: the number of outgoing bytes when it was begun.
    public init(begunAt start: Int) { self.start = start }

    /// The length of the message so far in bytes.
    public func length(in bytes: borrowing ByteWriter) -> Int {
        bytes.count - start - MessageLimits.prefixLength
    }

    /// Fills the prefix in.
    ///
    /// - Parameter compression: what to compress with if that makes the message smaller; nil: nothing.
    public func end(in bytes: inout ByteWriter, compression: InflateStream.Format?) {
        var flag: UInt8 = 0
        let body = start + MessageLimits.prefixLength
        if let compression, length(in: bytes) > 512 {
            let compressed = bytes.withBytes { bytes in
                let message = bytes.extracting(body...)
                return compression == .zlib
                    ? try? Zlib.deflate(message, level: 1) : try? Zlib.gzip(message, level: 1)
            }
            if let compressed, compressed.count < length(in: bytes) {
                bytes.truncate(to: body)
                bytes.append(contentsOf: compressed)
                flag = 1
            }
        }
        bytes.overwrite(at: start, with: flag)
        bytes.overwrite(at: start + 1, with: UInt32(clamping: length(in: bytes)).bigEndian)
    }

    /// Fills the prefix in.
    ///
    /// - Parameter compressing: whether to compress with zlib if that makes the message smaller.
    public func end(in bytes: inout ByteWriter, compressing: Bool = false) {
        end(in: &bytes, compression: compressing ? .zlib : nil)
    }
}
