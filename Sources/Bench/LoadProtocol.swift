// SPDX-License-Identifier: MIT

/// The wire protocol of a server under load: writes requests, and counts answers without keeping them.
public protocol LoadProtocol {
    /// Appends the next request. `slot` is below the connection's depth and comes back with the answer.
    mutating func appendRequest(slot: Int, to bytes: inout [UInt8])

    /// Processes received bytes, which may be cut anywhere, and appends each answer that ends in them.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, into answers: inout [LoadAnswer])
}
