// SPDX-License-Identifier: MIT

/// The encoded tiles of a batch, one after another.
struct EncodedBatch: Sendable {
    var ids: [UInt64] = []
    var ends: [Int] = []
    var hashes: [Int] = []
    var bytes: [UInt8] = []
}
