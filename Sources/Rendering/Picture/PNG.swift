// SPDX-License-Identifier: MIT
import Compression

/// Writes PNG files (RFC 2083) of opaque pixels.
enum PNG {
    /// - Parameter pixels: three bytes a pixel, row by row.
    static func encode(_ pixels: [UInt8], width: Int, height: Int) throws -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Eight bits a channel, red green blue, and the only compression, filters and order there are.
        let kind: [UInt8] = [8, 2, 0, 0, 0]
        append(
            "IHDR", bigEndian(UInt32(clamping: width)) + bigEndian(UInt32(clamping: height)) + kind, to: &file
        )
        let choices = try [false, true].map { difference in
            try Zlib.deflate(filtered(pixels, rowLength: width * 3, difference: difference), level: 9)
        }
        append("IDAT", choices.min { $0.count < $1.count } ?? [], to: &file)
        append("IEND", [], to: &file)
        return file
    }

    /// Every row with its filter type before it: 0, as it is, which flat areas deflate best with; or 2, its
    /// difference from the one above, which is better for gradients.
    private static func filtered(_ pixels: [UInt8], rowLength: Int, difference: Bool) -> [UInt8] {
        var rows: [UInt8] = []
        guard rowLength > 0 else { return rows }
        rows.reserveCapacity(pixels.count + pixels.count / rowLength)
        for start in stride(from: 0, to: pixels.count, by: rowLength) {
            rows.append(difference ? 2 : 0)
            for place in start..<min(start + rowLength, pixels.count) {
                rows.append(
                    difference && start > 0 ? pixels[place] &- pixels[place - rowLength] : pixels[place])
            }
        }
        return rows
    }

    private static func append(_ type: String, _ content: [UInt8], to file: inout [UInt8]) {
        let checked = Array(type.utf8) + content
        file += bigEndian(UInt32(clamping: content.count))
        file += checked
        file += bigEndian(checked.withUnsafeBytes { Zlib.crc32($0) })
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }
}
