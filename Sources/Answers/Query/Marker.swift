// SPDX-License-Identifier: MIT

/// A marker's key and content in compact form.
struct Marker: Sendable, BitwiseCopyable, Equatable {
    var identity: UInt64
    /// A hash of everything that is sent about it.
    var content: UInt64
    var occurrence: UInt32

    var key: MarkerKey { MarkerKey(identity: identity, occurrence: occurrence) }
}

/// A marker's key, known to the daemon and the client.
struct MarkerKey: Sendable, BitwiseCopyable, Hashable {
    /// Identifies a marker from one answer to the next.
    var identity: UInt64
    /// Distinguishes markers with the same identity.
    var occurrence: UInt32
}

/// A node of the new answer, not yet matched with the client's markers.
struct Candidate: BitwiseCopyable {
    let identity: UInt64
    let content: UInt64
    /// Its position in the answer.
    let place: Int
}
