// SPDX-License-Identifier: MIT

/// A marker's key, known to the daemon and the client.
struct MarkerKey: Sendable, BitwiseCopyable, Hashable {
    /// Identifies a marker from one answer to the next.
    var identity: UInt64
    /// Distinguishes markers with the same identity.
    var occurrence: UInt32
}
