// SPDX-License-Identifier: MIT

/// Where a plain file of features may be cut, so that several readers, on any machines, read a piece each: between the
/// lines of features a line each, or between the rows of a table.
public struct FeatureCuts {
    private let start: FeatureCutter

    /// How much of a file's beginning shows whether it can be cut, in bytes.
    public static let headSize = FormatDetection.window

    /// Nil if the file has to be read from its start to its end.
    ///
    /// - Parameter head: the file's first `headSize` bytes, or all if it is shorter.
    public init?(_ format: FeatureFormat, head: [UInt8]) {
        guard let start = FeatureCutter(format, after: head) else { return nil }
        self.start = start
    }

    /// The offsets of the pieces but the first.
    ///
    /// - Parameters:
    ///   - size: the file's size in bytes.
    ///   - step: about how many bytes a piece has.
    ///   - read: the bytes of a range within the file.
    /// - Complexity: of lines, a read for each piece; a table is read as a whole, since cells may have line ends.
    public func offsets<Failure: Error>(
        size: Int, step: Int, read: (Range<Int>) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [Int] {
        guard let delimiter = start.delimiter else { return try lineOffsets(size, step, read) }
        var (offsets, held): ([Int], [UInt8]) = ([], [])
        var (scanner, before, next) = (RowScanner(), start.headLength, step)
        while before + held.count < size {
            let from = before + held.count
            held += try read(from..<min(size, from + (1 << 20)))
            let end = scanner.endOfWholeRows(held, delimiter, isLast: false)
            held.removeFirst(end)
            before += end
            if end > 0, before >= next, before < size {
                offsets.append(before)
                next = before + step
            }
        }
        return offsets
    }

    private func lineOffsets<Failure: Error>(
        _ size: Int, _ step: Int, _ read: (Range<Int>) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [Int] {
        var offsets: [Int] = []
        var from = step
        while from < size {
            let text = try read(from..<min(size, from + (1 << 16)))
            guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else {
                from += max(1, text.count)
                continue
            }
            let offset = from + end + 1
            if offset < size { offsets.append(offset) }
            from = offset + step
        }
        return offsets
    }
}
