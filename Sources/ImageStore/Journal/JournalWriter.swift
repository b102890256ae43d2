// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A journal open for writing. Not safe for concurrent use.
package struct JournalWriter: Sendable {
    package var path: String
    package let generation: UInt64
    private let file: FileDescriptor
    /// Where the next record goes.
    package private(set) var end = JournalFormat.start
    /// The number of records.
    package private(set) var count: UInt64 = 0
    /// Whether a failed write could not be undone. If so, nothing may be written after it.
    private var isBroken = false

    /// Creates an empty journal under a temporary name, syncs it and renames it. The directory is not synced.
    ///
    /// - Parameters:
    ///   - temporary: the name until the file is complete.
    ///   - previous: the generation of the journal that it continues; nil if it follows other data.
    ///   - hasBegun: false if the journal takes effect only after `begin`.
    package init(
        creating path: String, beside temporary: String, generation: UInt64, revision: UInt64,
        previous: UInt64?, hasBegun: Bool
    ) throws(FileError) {
        self.path = path
        self.generation = generation
        file = try FileIO.create(temporary)
        var start = JournalFormat.header(generation: generation, revision: revision, previous: previous)
        start += JournalFormat.mark(hasBegun ? JournalFormat.start : 0)
        start += [UInt8](repeating: 0, count: JournalFormat.start - start.count)
        do throws(FileError) {
            try write(start, at: 0)
            try FileIO.sync(file, path: temporary)
            try FileIO.rename(temporary, to: path)
        } catch {
            FileIO.remove(temporary)
            throw error
        }
    }

    /// Continues a journal that was read. Anything after its last intact record is cut off.
    package init(continuing reader: JournalReader<some StoredRecord>) throws(FileError) {
        path = reader.path
        guard let header = reader.header else {
            throw .unusable("\(path) is damaged in its header; nothing has changed")
        }
        generation = header.generation
        file = try FileIO.open(reader.path, O_RDWR)
        end = reader.end
        count = UInt64(reader.records.count)
        if reader.tornBytes > 0 { try FileIO.truncate(file, to: end, path: path) }
        // Records after the mark were written, but may not have reached the disk.
        if reader.tornBytes > 0 || reader.known != end { try FileIO.sync(file, path: path) }
        try write(JournalFormat.mark(end), at: JournalFormat.markOffset)
    }

    /// Puts the journal, and the snapshot that it follows, into effect. Synced on return.
    package mutating func begin() throws(FileError) {
        try write(JournalFormat.mark(end), at: JournalFormat.markOffset)
        try FileIO.sync(file, path: path)
    }

    /// Undoes `begin`, so that the journal and its snapshot are ignored even if they cannot be removed.
    package func unbegin() throws(FileError) {
        try write(JournalFormat.mark(0), at: JournalFormat.markOffset)
        try FileIO.sync(file, path: path)
    }

    /// Appends a record and syncs it. If this throws, the journal is unchanged.
    package mutating func append(_ payload: [UInt8]) throws(FileError) {
        if isBroken { takeBack() }
        guard !isBroken else {
            throw .unusable(
                "cannot write \(path): an earlier change could neither be written nor taken back; nothing has changed. Make the state directory writable"
            )
        }
        let header = JournalFormat.recordHeader(of: payload, number: count + 1)
        do throws(FileError) {
            try write(header, at: end)
            try write(payload, at: end + header.count)
            try FileIO.sync(file, path: path)
            // A file that has lost its name is deleted when the process ends.
            guard try FileIO.isNamed(file, path) else {
                throw FileError.unusable(
                    "\(path) was removed or replaced while the daemon runs; nothing has changed. Put the state directory back, or restart the daemon on the one that is there"
                )
            }
        } catch {
            takeBack()
            throw error
        }
        end += header.count + payload.count
        count += 1
        // The record is on disk. If the mark cannot be written, a start only cannot tell that it is.
        try? write(JournalFormat.mark(end), at: JournalFormat.markOffset)
    }

    /// Makes sure that bytes after the last intact record are not read as a record.
    private mutating func takeBack() {
        isBroken = true
        do throws(FileError) {
            do throws(FileError) { try FileIO.truncate(file, to: end, path: path) } catch {
                // A record without a length is not read as a record.
                try write([UInt8](repeating: 0, count: JournalFormat.recordHeaderSize), at: end)
            }
            try FileIO.sync(file, path: path)
            isBroken = false
        } catch {}
    }

    private func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        try FileIO.write(bytes, to: file, at: offset, path: path)
    }
}
