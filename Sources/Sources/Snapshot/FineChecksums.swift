// SPDX-License-Identifier: MIT

/// The blocks of a snapshot's text that have a checksum of their own in `SnapshotSection.fineTextChecksums`.
package enum FineChecksums {
    /// The size of a block in bytes. One damaged byte costs the features whose records overlap its block.
    package static let blockSize = 4096
}
