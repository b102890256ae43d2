// SPDX-License-Identifier: MIT

/// The part of an archive that is still to be sent.
struct ArchiveRest {
    let archive: ServedArchive
    var range: Range<Int>
    /// The head until it is written, then nil.
    var head: ResponseHead?
    /// Whether the connection closes after the body.
    var closes = false
    /// Whether a piece is being read on the pool.
    var isReading = false

    init(_ archive: ServedArchive, _ range: Range<Int>) {
        self.archive = archive
        self.range = range
    }
}
