// SPDX-License-Identifier: MIT

/// A cell of a row. Valid as long as the row's text.
struct TableCell {
    /// Without the quotation marks around it.
    var text: UnsafeRawBufferPointer
    /// Whether it contains doubled quotation marks.
    var hasDoubledQuotes: Bool
}
