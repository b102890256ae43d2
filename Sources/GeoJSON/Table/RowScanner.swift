// SPDX-License-Identifier: MIT
import Glibc

/// A row of a table.
struct ScannedRow {
    /// Its range in the text, without its line end.
    var range: Range<Int>
    var fault: FeatureFault?
}

/// Splits a text into rows and cells (RFC 4180).
///
/// A quotation mark within a cell that does not begin with one is an ordinary character. A cell whose
/// quotation marks do not end within `longestRow` costs its own line only.
struct RowScanner {
    /// A quoted cell must end within this many bytes of its row's start.
    static let longestRow = 1 << 20

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed = UInt8(ascii: "\n")

    /// The offset of the next row.
    private(set) var offset = 0

    /// The end of the last complete row, including its line end; 0 if none is complete.
    ///
    /// - Complexity: O(bytes); without quotation marks, at the speed of memchr(3).
    mutating func endOfWholeRows(_ text: [UInt8], _ delimiter: UInt8, isLast: Bool) -> Int {
        if isLast { return text.count }
        if memchr(text, Int32(Self.quote), text.count) == nil {
            return text.lastIndex(of: Self.lineFeed).map { $0 + 1 } ?? 0
        }
        offset = 0
        var cells: [TableCell] = []
        text.withUnsafeBytes { while next($0, delimiter, isLast: false, into: &cells) != nil {} }
        return offset
    }

    /// The cells of the first rows that are not blank, with single quotation marks.
    static func rows(of text: [UInt8], _ delimiter: UInt8, most: Int) -> [[String]] {
        var (scanner, cells, rows) = (RowScanner(), [TableCell](), [[String]]())
        text.withUnsafeBytes { text in
            while rows.count < most, scanner.next(text, delimiter, isLast: true, into: &cells) != nil {
                rows.append(cells.map(\.string))
            }
        }
        return rows
    }

    /// The end of the first row with content; nil if it is incomplete.
    mutating func endOfFirstRow(_ text: UnsafeRawBufferPointer, isLast: Bool) -> Int? {
        offset = 0
        var cells: [TableCell] = []
        // The delimiter is not known yet, so a quotation mark may begin a cell after any possible delimiter.
        return next(text, nil, isLast: isLast, into: &cells).map { _ in offset }
    }

    /// Reads the next row that is not blank; nil if there is none, or if the last one is incomplete.
    ///
    /// - Parameters:
    ///   - delimiter: what separates cells; nil for any of the usual ones, if only rows matter.
    ///   - isLast: whether no more text follows.
    mutating func next(
        _ text: UnsafeRawBufferPointer, _ delimiter: UInt8?, isLast: Bool, into cells: inout [TableCell]
    ) -> ScannedRow? {
        while offset < text.count, text[offset] == Self.lineFeed || text[offset] == UInt8(ascii: "\r") {
            offset += 1
        }
        guard offset < text.count else { return nil }
        cells.removeAll(keepingCapacity: true)
        let start = offset
        var at = start
        var fault: FeatureFault?
        while true {
            if at < text.count, text[at] == Self.quote {
                guard let (end, doubled) = endOfQuoted(text, at, from: start) else {
                    // The end may be in the text to come.
                    if !isLast, text.count - start < Self.longestRow { return nil }
                    return badLine(text, start, isLast)
                }
                let cell = UnsafeRawBufferPointer(rebasing: text[at + 1..<end])
                cells.append(TableCell(text: cell, hasDoubledQuotes: doubled))
                at = end + 1
                let stop = endOfPlain(text, at, delimiter)
                if !text[at..<stop].allSatisfy({ $0 == UInt8(ascii: "\r") }) { fault = .badQuotes }
                at = stop
            } else {
                let stop = endOfPlain(text, at, delimiter)
                var cell = text[at..<stop]
                if stop == text.count || text[stop] == Self.lineFeed, cell.last == UInt8(ascii: "\r") {
                    cell = cell.dropLast()
                }
                cells.append(TableCell(text: UnsafeRawBufferPointer(rebasing: cell), hasDoubledQuotes: false))
                at = stop
            }
            if at == text.count {
                guard isLast else { return nil }
                offset = at
                return ScannedRow(range: start..<at, fault: fault)
            }
            if text[at] == Self.lineFeed {
                offset = at + 1
                return ScannedRow(range: start..<at, fault: fault)
            }
            at += 1
        }
    }

    /// A line with an unterminated quotation mark.
    private mutating func badLine(_ text: UnsafeRawBufferPointer, _ start: Int, _ isLast: Bool) -> ScannedRow? {
        let end = text[start...].firstIndex(of: Self.lineFeed)
        guard end != nil || isLast else { return nil }
        offset = end.map { $0 + 1 } ?? text.count
        return ScannedRow(range: start..<(end ?? text.count), fault: .badQuotes)
    }

    /// The offset of the quotation mark that ends a cell; nil if there is none near enough.
    private func endOfQuoted(_ text: UnsafeRawBufferPointer, _ opening: Int, from start: Int) -> (Int, doubled: Bool)? {
        guard let base = text.baseAddress else { return nil }
        let limit = min(text.count, start + Self.longestRow)
        var (at, doubled) = (opening + 1, false)
        while at < limit, let found = memchr(base + at, Int32(Self.quote), limit - at) {
            at = base.distance(to: UnsafeRawPointer(found))
            guard at + 1 < text.count, text[at + 1] == Self.quote else { return (at, doubled) }
            doubled = true
            at += 2
        }
        return nil
    }

    @inline(__always) private func endOfPlain(
        _ text: UnsafeRawBufferPointer, _ start: Int, _ delimiter: UInt8?
    ) -> Int {
        var at = start
        if let delimiter {
            while at < text.count, text[at] != delimiter, text[at] != Self.lineFeed { at &+= 1 }
            return at
        }
        let stops = TableColumns.delimiters.map(\.byte) + [Self.lineFeed]
        while at < text.count, !stops.contains(text[at]) { at &+= 1 }
        return at
    }
}
