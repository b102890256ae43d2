// SPDX-License-Identifier: MIT

/// A marker's key and content in compact form.
struct Marker: Sendable, BitwiseCopyable, Equatable {
    var identity: UInt64
    /// A hash of everything that is sent about it.
    var content: UInt64
    var occurrence: UInt32

    var key: MarkerKey { MarkerKey(identity: identity, occurrence: occurrence) }
}
