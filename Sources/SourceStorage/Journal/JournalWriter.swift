// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A journal that is written to. For one thread at a time.
package struct JournalWriter: Sendable {
    package var path: String
    package let generation: UInt64
    private let file: FileDescriptor
    /// If the next record goes.
    package private(set) var end = JournalFormat.start
    /// How many records there are.
    package private(set) var count: UInt64 = 0
    /// Whether a failed write could not be taken back: then nothing may follow it.
    private var isBroken = false

    /// Makes an empty journal; it is on disk on return, its name apart, which it gets when it is whole.
    ///
    /// - Parameters:
    ///   - temporary: the name until then.
    ///   - previous: the generation of the journal that it goes on from; nil if it follows other data.
    ///   - hasBegun: false where the journal counts only once `begin` was called.
    package init(
        creating path: String, beside temporary: String, generation: UInt64, revision: UInt64,
        previous: UInt64?, hasBegun: Bool
    ) throws(FileError) {
        self.path = path
        self.generation = generation
        file = try FileIO.create(temporary)
        var start = JournalFormat.header(
            generation: generation, revision: revision, previous: previous)
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

    /// Goes on with a journal that was read, what is behind its last good record cut off.
    package init(continuing reader: JournalReader<some StoredRecord>) throws(FileError) {
        path = reader.path
        generation = reader.generation
        file = try FileIO.open(reader.path, O_RDWR)
        end = reader.end
        count = UInt64(reader.records.count)
        if reader.tornBytes > 0 { try FileIO.truncate(file, to: end, path: path) }
        // Records behind the mark were written, but nobody knows whether the disk has them.
        if reader.tornBytes > 0 || reader.known != end { try FileIO.sync(file, path: path) }
        try write(JournalFormat.mark(end), at: JournalFormat.markOffset)
    }

    /// From now on the journal, and the snapshot that it follows, count. That is on disk on return.
    package mutating func begin() throws(FileError) {
        try write(JournalFormat.mark(end), at: JournalFormat.markOffset)
        try FileIO.sync(file, path: path)
    }

    /// Takes `begin` back: neither the journal nor its snapshot counts, if they can't be removed.
    package func unbegin() throws(FileError) {
        try write(JournalFormat.mark(0), at: JournalFormat.markOffset)
        try FileIO.sync(file, path: path)
    }

    /// Appends a record; it is on disk on return. If this throws, the journal is unchanged.
    package mutating func append(_ payload: [UInt8]) throws(FileError) {
        if isBroken { takeBack() }
        guard !isBroken else {
            throw .unusable(
                "cannot write \(path): an earlier change could neither be written nor taken back; nothing has changed. Make the state directory writable"
            )
        }
        let record = JournalFormat.record(payload, number: count + 1)
        do throws(FileError) {
            try write(record, at: end)
            try FileIO.sync(file, path: path)
            // What is written to a file without its name is gone with the process.
            guard try FileIO.isNamed(file, path) else {
                throw FileError.unusable(
                    "\(path) was removed or replaced while the daemon runs; nothing has changed. Put the state directory back, or restart the daemon on the one that is there"
                )
            }
        } catch {
            takeBack()
            throw error
        }
        end += record.count
        count += 1
        // The record is safe; where the mark cannot follow, it only is not known to be.
        try? write(JournalFormat.mark(end), at: JournalFormat.markOffset)
    }

    /// Makes sure that what lies behind the last good record is not read as one.
    private mutating func takeBack() {
        isBroken = true
        do throws(FileError) {
            do throws(FileError) { try FileIO.truncate(file, to: end, path: path) } catch {
                // Without its length a record is none.
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
