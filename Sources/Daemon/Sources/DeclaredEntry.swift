// SPDX-License-Identifier: MIT
import RPC
import Glibc
import SystemSupport
import Synchronization

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

/// Identifies a file's version, to detect that it was replaced or written.
struct FileStamp: Equatable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// The current stamp; nil if there is no such file.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt(status.st_dev)
        inode = UInt(status.st_ino)
        size = Int(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}

/// Tells jobs that fill sources to stop, because the daemon ends. Safe from any thread.
final class FillingEnd: Sendable {
    private let state = Atomic<Bool>(false)

    var isEnding: Bool { state.load(ordering: .relaxed) }

    func begin() { state.store(true, ordering: .relaxed) }

    var cancellation: Cancellation { Cancellation { self.isEnding } }
}
