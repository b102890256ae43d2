// SPDX-License-Identifier: MIT
import SystemSupport

/// A journal's record, decoded by the layer that defines its content.
public protocol StoredRecord: Sendable {
    /// The number of the revision that the change produced.
    var revision: UInt64 { get }

    /// Decodes a payload; nil if it is not a record of this type.
    init?(payload: UnsafeRawBufferPointer)
}
