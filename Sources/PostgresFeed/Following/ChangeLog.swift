// SPDX-License-Identifier: MIT
import EventLoop
import Glibc
import SystemSupport

/// The changes of one transaction while it arrives: in memory up to a budget, beyond that in a spool that the
/// pool writes. Used on the loop's thread.
final class ChangeLog {
    /// All changes, when no more will be added.
    struct Contents: Sendable {
        let count: Int
        let byteCount: Int
        let skipped: SkippedRows
        let tail: [UInt8]
        let spool: (file: SpoolFile, count: Int)?
        var aborted: Set<UInt32> = []
    }

    private let loop: EventLoop
    private let folder: String
    private let budget: Int
    private var memory: [UInt8] = []
    private var spool: SpoolFile?
    private var spooledBytes = 0
    private var count = 0
    private var skipped = SkippedRows()
    /// Subtransactions that were rolled back (ROLLBACK TO); their changes are left out.
    var aborted: Set<UInt32> = []
    private var error: FileError?
    private var whenWritten: (() -> Void)?
    /// Whether the pool is writing; reading more must wait.
    private(set) var isWriting = false

    /// - Parameters:
    ///   - folder: the folder in which a spool is created.
    ///   - budget: how many bytes stay in memory.
    init(on loop: EventLoop, spoolingIn folder: String, budget: Int) {
        (self.loop, self.folder, self.budget) = (loop, folder, budget)
    }

    private var byteCount: Int { spooledBytes + memory.count }
    var isEmpty: Bool { count == 0 && skipped.total == 0 }

    /// - Parameter subtransaction: the subtransaction whose rollback also removes the change; 0: none.
    func append(_ change: TableChange, subtransaction: UInt32 = 0) {
        ChangeRecord.append(change, subtransaction: subtransaction, to: &memory)
        count += 1
        if memory.count > (spool == nil ? budget : Self.blockBytes), !isWriting { spill() }
    }

    func count(skipped reason: SkippedRows.Reason) { skipped[reason] += 1 }

    private static let blockBytes = 1 << 20

    private func spill() {
        let (block, offset) = (memory, spooledBytes)
        memory = []
        spooledBytes += block.count
        isWriting = true
        let (folder, existing) = (folder, spool)
        loop.compute {
            Result { () throws(FileError) in
                let file = if let existing { existing } else { try SpoolFile(in: folder) }
                try file.write(block, at: offset)
                return file
            }
        } completion: { [self] outcome in
            isWriting = false
            switch outcome {
            case .success(let file): spool = file
            case .failure(let found): error = error ?? found
            }
            let next = whenWritten
            whenWritten = nil
            next?()
        }
    }

    /// Calls `then` once nothing is being written: immediately if nothing is.
    func afterWriting(_ then: @escaping () -> Void) {
        if isWriting { whenWritten = then } else { then() }
    }

    /// Everything that was added. Call it only while nothing is being written.
    func contents() throws(FileError) -> Contents {
        if let error { throw error }
        return Contents(
            count: count, byteCount: byteCount, skipped: skipped, tail: memory,
            spool: spool.map { ($0, spooledBytes) }, aborted: aborted)
    }
}

/// A file on disk without a name, for changes that do not fit into memory. It disappears with its last user,
/// even if the process is killed.
final class SpoolFile: Sendable {
    private let file: FileDescriptor
    private let folder: String

    /// - Parameter folder: a folder in a file system on disk.
    init(in folder: String) throws(FileError) {
        self.folder = folder
        var path = Array("\(folder)/.clusterd-spool-XXXXXX".utf8CString)
        let number = mkstemp(&path)
        guard number >= 0 else { throw FileIO.failure(errno, "make a spool in", folder) }
        unlink(path)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        file = FileDescriptor(owning: number)
    }

    /// Blocks: call it on the pool.
    func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try FileIO.write(bytes, to: file, at: offset, path: folder)
    }

    /// Reads at most `count` bytes. Blocks: call it on the pool.
    func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        try FileIO.read(count, from: file, at: offset, path: "a spool in \(folder)")
    }
}
