// SPDX-License-Identifier: MIT
import SystemSupport

/// A journal's record, decoded by the layer that knows what it says.
public protocol StoredRecord: Sendable {
    /// The number of the revision that the change made.
    var revision: UInt64 { get }

    /// Decodes a payload; nil if it is not such a record.
    init?(payload: UnsafeRawBufferPointer)
}
