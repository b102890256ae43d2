// SPDX-License-Identifier: MIT
import CSimdjson

/// A scan of text before it is known whether the text begins inside a string, so that several threads can
/// scan parts of one text at the same time (Langdale and Lemire, "Parsing gigabytes of JSON per second",
/// 2019, treat blocks likewise).
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
