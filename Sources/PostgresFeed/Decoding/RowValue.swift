// SPDX-License-Identifier: MIT

/// A column's value in a row. The bytes are a slice of the message that it came in, valid as long as that is.
enum RowValue {
    case null
    /// A large value that did not change and that the server does not repeat (TOAST).
    case unchanged
    /// What the type's output function gives.
    case text(UnsafeRawBufferPointer)
}
