// SPDX-License-Identifier: MIT
import Glibc
import ImageStore
import SourceEngine
import SystemSupport

/// One file with all or some sources of a state directory: a tar archive. Each source is complete and
/// consistent, including all calls that were answered before the backup began.
public enum Backup {
    /// Writes a backup under a temporary name and renames it, so that the file is complete or absent.
    ///
    /// Works while a daemon uses the directory: snapshots never change, and a journal is copied up to its
    /// last complete record.
    ///
    /// - Parameter sources: nil for all.
    /// - Returns: the names of the sources in it.
    public static func write(
        _ directory: String, sources: [String]? = nil, to path: String
    ) throws(StateToolError) -> [String] {
        let names: [String]
        if let sources { names = sources } else { names = try StateCheck.sources(in: directory) }
        let temporary = path + ".new"
        do throws(StateToolError) {
            let file = try onDisk(try FileIO.create(temporary))
            var end = 0
            for name in names {
                for (file:entry, bytes:bytes) in try files(of: name, in: directory) {
                    try append("sources/\(name)/\(entry)", bytes, to: file, at: &end, temporary)
                }
            }
            try onDisk(
                try FileIO.write([UInt8](repeating: 0, count: 2 * TarHeader.size), to: file, at: end, path: temporary))
            try onDisk(try FileIO.sync(file, path: temporary))
            try onDisk(try FileIO.rename(temporary, to: path))
        } catch {
            FileIO.remove(temporary)
            throw error
        }
        return names
    }

    private static let attempts = 10

    private typealias Entry = (file: String, bytes: [UInt8])

    /// A source's files: the newest intact snapshot and the journals that follow it.
    private static func files(of name: String, in directory: String) throws(StateToolError) -> [Entry] {
        let folder = "\(directory)/sources/\(name)"
        guard FileIO.exists(folder) else {
            throw StateToolError("there is no source '\(name)' in \(directory)")
        }
        var last = StateToolError("\(folder) changes faster than it can be read")
        for _ in 0..<attempts {
            do throws(StateFault) { return try read(folder) } catch {
                // A running daemon may have replaced the files.
                last = StateToolError(error)
            }
        }
        throw last
    }

    private static func read(_ folder: String) throws(StateFault) -> [Entry] {
        // The image itself is no part of the state.
        if try Attachment(in: folder) != nil {
            return [(Attachment.fileName, try bytes(folder + "/" + Attachment.fileName))]
        }
        let limits = SourceLimits(filterCacheBytes: 0, buildThreads: 1)
        let found = try RecoveredSource.read(folder, shared: SharedState(limits: limits), checking: true)
        if let loss = found.plan.loss { throw StateFault(loss) }
        let files = try FoundFiles(folder)
        let snapshot = files.name(found.plan.generation, .snapshot)
        var entries: [Entry] = [(snapshot, try bytes(folder + "/" + snapshot))]
        for generation in found.plan.journals {
            let name = files.name(generation, .journal)
            let journal = try files.journal(generation)
            var bytes = try bytes(folder + "/" + name)
            bytes.removeSubrange(min(journal.end, bytes.count)...)
            let mark = JournalFormat.mark(journal.end)
            bytes.replaceSubrange(JournalFormat.markOffset..<JournalFormat.markOffset + mark.count, with: mark)
            entries.append((name, bytes))
        }
        return entries
    }

    private static func bytes(_ path: String) throws(StateFault) -> [UInt8] {
        do throws(FileError) { return try FileIO.contents(of: path) } catch { throw StateFault(error) }
    }

    private static func append(
        _ name: String, _ bytes: [UInt8], to file: FileDescriptor, at end: inout Int, _ path: String
    ) throws(StateToolError) {
        guard let head = TarHeader(name: name, count: bytes.count).bytes else {
            throw StateToolError("\(name) is too large for a backup")
        }
        try onDisk(try FileIO.write(head, to: file, at: end, path: path))
        try onDisk(try FileIO.write(bytes, to: file, at: end + head.count, path: path))
        let zeros = [UInt8](repeating: 0, count: TarHeader.padding(bytes.count))
        try onDisk(try FileIO.write(zeros, to: file, at: end + head.count + bytes.count, path: path))
        end += head.count + bytes.count + zeros.count
    }
}
