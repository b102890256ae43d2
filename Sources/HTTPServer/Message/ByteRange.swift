// SPDX-License-Identifier: MIT

/// The part of a file that a request asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
    case whole
    /// A part of the file, not empty.
    case part(Range<Int>)
    /// The file does not contain these bytes.
    case unsatisfiable

    /// Reads a `Range` field. Fields that are malformed, use another unit or have several parts are ignored, as
    /// the standard allows: the answer is the whole file.
    ///
    /// - Parameter size: the file's size in bytes.
    init(_ field: String?, size: Int) {
        self = field.flatMap { Self.parse($0, size) } ?? .whole
    }

    private static func parse(_ field: String, _ size: Int) -> ByteRange? {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmingSpaces.lowercased() == "bytes" else { return nil }
        let ends = parts[1].trimmingSpaces.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let count = number(ends[1]) else { return nil }
            return count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        }
        guard let first = number(ends[0]) else { return nil }
        guard !ends[1].isEmpty else { return first < size ? .part(first..<size) : .unsatisfiable }
        guard let last = number(ends[1]), last >= first else { return nil }
        return first < size ? .part(first..<min(size, last < .max ? last + 1 : .max)) : .unsatisfiable
    }

    /// Reads digits; numbers that are too large for an integer become the largest one.
    private static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}
