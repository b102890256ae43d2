// SPDX-License-Identifier: MIT

/// A column's value in a row. The bytes are a slice of the message that contained it, and valid as long as
/// that is.
enum RowValue {
    case null
    /// A large value that did not change and that the server does not repeat (TOAST).
    case unchanged
    /// The output of the type's output function.
    case text(UnsafeRawBufferPointer)
}
