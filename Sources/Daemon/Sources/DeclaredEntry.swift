// SPDX-License-Identifier: MIT

/// The state of a declared source. Belongs to the loop's thread.
final class DeclaredEntry {
    let declared: DeclaredSource
    /// The file's stamp when it was last read, or when reading it last failed.
    var stamp: FileStamp?
    /// Whether there is work to do for it.
    var isWanted = false
    var isRunning = false
    /// Whether the declared options differ from the source's.
    var changesOptions = false

    init(_ declared: DeclaredSource) { self.declared = declared }
}
