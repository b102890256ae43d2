// SPDX-License-Identifier: MIT

/// Leaves out the values of changed rows that are too long for a feature, so that a row of hundreds of megabytes is not
/// copied once more: libpq already holds it twice.
enum LongValues {
    /// Stands for a value that was left out; no kind of value of `pgoutput`.
    static let kind = UInt8(ascii: "x")

    /// `w`, two positions and a time.
    private static let frameBytes = 25

    /// Copies a frame with a message of `pgoutput`. A message that changes no row, or is not valid, is copied as it is.
    ///
    /// - Parameters:
    ///   - longest: the length in bytes of the longest values that are copied.
    ///   - isStreamed: as for `LogicalMessage.read`.
    static func copy(_ frame: Span<UInt8>, longest: Int, isStreamed: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        var copied = 0
        for value in longValues(frame, longest, isStreamed) {
            bytes.append(contentsOf: frame.extracting(copied..<value.lowerBound))
            bytes.append(kind)
            copied = value.upperBound
        }
        bytes.append(contentsOf: frame.extracting(copied..<frame.count))
        return bytes
    }

    /// The ranges of long values, with their kind and their length.
    private static func longValues(_ frame: Span<UInt8>, _ longest: Int, _ isStreamed: Bool) -> [Range<Int>] {
        // Nearly all frames are short.
        guard frame.count > longest, frame.count > frameBytes, frame[0] == UInt8(ascii: "w"),
            isOfRows(frame[frameBytes])
        else { return [] }
        var found: [Range<Int>] = []
        // The kind, the transaction and the table precede one or two rows.
        var index = frameBytes + (isStreamed ? 9 : 5)
        while index + 3 <= frame.count {
            // Which row it is, and how many values it has.
            let count = Int(frame[index + 1]) << 8 | Int(frame[index + 2])
            index += 3
            for _ in 0..<count {
                guard let end = endOfValue(frame, at: index) else { return found }
                if end - index - 5 > longest { found.append(index..<end) }
                index = end
            }
        }
        return found
    }

    private static func isOfRows(_ message: UInt8) -> Bool {
        switch message {
        case UInt8(ascii: "I"), UInt8(ascii: "U"), UInt8(ascii: "D"): true
        default: false
        }
    }

    /// The end of the value that begins at an index; nil if it is not valid.
    private static func endOfValue(_ frame: Span<UInt8>, at index: Int) -> Int? {
        guard index < frame.count else { return nil }
        switch frame[index] {
        case UInt8(ascii: "n"), UInt8(ascii: "u"): return index + 1
        case UInt8(ascii: "t"):
            guard frame.count - index >= 5 else { return nil }
            let length = (1...4).reduce(0) { $0 << 8 | Int(frame[index + $1]) }
            return length <= frame.count - index - 5 ? index + 5 + length : nil
        default: return nil
        }
    }
}
