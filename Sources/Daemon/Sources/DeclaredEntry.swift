// SPDX-License-Identifier: MIT
import Calls
import Answers
import Sources
import SystemSupport
import Synchronization

/// How things stand with a declared source. Belongs to the loop's thread.
final class DeclaredEntry {
    let declared: DeclaredSource
    /// The file's stamp when it was last read, or when reading it last failed.
    var stamp: FileStamp?
    /// Something is to be done for it.
    var isWanted = false
    var isRunning = false
    /// The options differ from the source's.
    var changesOptions = false

    init(_ declared: DeclaredSource) { self.declared = declared }
}

/// Whether what fills sources is to stop, since the daemon ends. Safe from any thread.
final class FillingEnd: Sendable {
    private let state = Atomic<Bool>(false)

    var isEnding: Bool { state.load(ordering: .relaxed) }

    func begin() { state.store(true, ordering: .relaxed) }

    var cancellation: Cancellation { Cancellation { self.isEnding } }
}
