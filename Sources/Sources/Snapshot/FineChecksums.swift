// SPDX-License-Identifier: MIT

/// The blocks of a snapshot's text that have a checksum of their own in `SnapshotSection.fineTextChecksums`.
package enum FineChecksums {
    /// Bytes of a block. One damaged byte costs the features whose records touch its block.
    package static let blockSize = 4096
}
