// SPDX-License-Identifier: MIT

/// A node of the new answer, not yet matched with the client's markers.
struct Candidate: BitwiseCopyable {
    let identity: UInt64
    let content: UInt64
    /// Its position in the answer.
    let place: Int
}
