// SPDX-License-Identifier: MIT
import CSimdjson

/// Finds where brackets of a long text close, piece by piece, at a few gigabytes per second. The content
/// between them is not checked: each extracted part must be parsed afterwards.
public struct JSONScanner: Sendable {
    private var state = csj_scan_state(depth: 0, in_string: 0, escaped: 0)

    public init() {}

    /// The number of brackets open at the end of the scanned text.
    public var depth: Int { Int(state.depth) }

    /// Scans until a closing bracket leaves at most `depth` open. Returns the offset after that bracket in
    /// `text`, or nil if all of `text` was scanned without finding one.
    public mutating func scan(_ text: UnsafeRawBufferPointer, toDepth depth: Int) -> Int? {
        guard let start = text.baseAddress else { return nil }
        let offset = csj_scan_to_depth(
            &state, start.assumingMemoryBound(to: CChar.self), text.count, Int64(depth))
        return offset > text.count ? nil : offset
    }

    /// Scans until a closing bracket makes the depth negative, or to the end of the text.
    ///
    /// - Returns: the offset after the last bracket that left none open, 0 if there is none, and the number
    ///   of bytes scanned.
    public mutating func scanToLast(_ text: UnsafeRawBufferPointer) -> (last: Int, scanned: Int) {
        guard let start = text.baseAddress else { return (0, 0) }
        var last = 0
        let scanned = csj_scan_to_last(
            &state, start.assumingMemoryBound(to: CChar.self), text.count, &last)
        return (last, scanned)
    }

    /// Continues behind a text that has been scanned already.
    ///
    /// - Returns: the same as `scanToLast` for the text, if all of it would be scanned. Nil, and this scanner
    ///   is unchanged, if the depth becomes negative in the text, or its first character is escaped: then the
    ///   text must be scanned.
    public mutating func skip(_ scan: JSONMiddleScan) -> Int? {
        guard state.escaped == 0 else { return nil }
        let outcome = state.in_string == 0 ? scan.outside : scan.inside
        guard state.depth + outcome.least >= 0 else { return nil }
        let last = state.depth + outcome.least == 0 ? Int(outcome.last) : 0
        state = csj_scan_state(
            depth: state.depth + outcome.end.depth, in_string: outcome.end.in_string,
            escaped: outcome.end.escaped)
        return last
    }
}

/// A scan of text before it is known whether the text begins inside a string, so that several threads can scan parts of
/// one text at the same time (Langdale and Lemire, "Parsing gigabytes of JSON per second", 2019, treat blocks likewise).
///
/// A `JSONScanner` that has come to the text's beginning chooses the outcome that applies, in constant time.
public struct JSONMiddleScan: Sendable {
    let outside: csj_middle_scan
    let inside: csj_middle_scan

    /// - Complexity: O(bytes), about 1.3 times that of a `JSONScanner`.
    public init(_ text: UnsafeRawBufferPointer) {
        var (outside, inside) = (csj_middle_scan(), csj_middle_scan())
        if let start = text.baseAddress {
            csj_scan_from_middle(start.assumingMemoryBound(to: CChar.self), text.count, &outside, &inside)
        } else {
            inside.end.in_string = 1
        }
        (self.outside, self.inside) = (outside, inside)
    }
}
