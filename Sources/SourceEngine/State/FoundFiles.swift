// SPDX-License-Identifier: MIT
import ImageStore
import SystemSupport

/// A source's journal as found on disk.
package typealias FoundJournal = JournalReader<JournalRecord.Entry>

/// A source's files by generation, as found on disk. Reading them changes nothing.
package struct FoundFiles {
    package let directory: String
    /// The generations of snapshots, newest first.
    package let snapshots: [UInt64]
    /// The generations of journals, oldest first.
    package let journals: [UInt64]
    /// Files that were being written when the daemon ended.
    package let temporaries: [String]
    /// The highest generation of any file.
    package var newest: UInt64 { max(snapshots.first ?? 0, journals.last ?? 0) }

    package init(_ directory: String) throws(StateFault) {
        self.directory = directory
        let names: [String]
        do throws(FileError) { names = try FileIO.names(in: directory) } catch { throw StateFault(error) }
        temporaries = names.filter { $0.hasPrefix(SourceFiles.temporaryPrefix) }.sorted()
        let files = names.compactMap { SourceFiles.read($0) }
        snapshots = files.filter { $0.kind == .snapshot }.map(\.generation).sorted(by: >)
        journals = files.filter { $0.kind == .journal }.map(\.generation).sorted()
    }

    /// The name of a file in the directory.
    package func name(_ generation: UInt64, _ kind: SourceFiles.FileKind) -> String {
        "\(generation).\(kind.rawValue)"
    }

    package func journal(_ generation: UInt64) throws(StateFault) -> FoundJournal {
        let path = SourceFiles.path(generation, .journal, in: directory)
        let journal = try FoundJournal(path)
        if let header = journal.header, header.generation != generation {
            throw StateFault("\(path) is the journal of generation \(header.generation)")
        }
        return journal
    }

    /// The generations whose call was never answered.
    package func uncommitted() throws(StateFault) -> Set<UInt64> {
        var found: Set<UInt64> = []
        for generation in journals {
            do throws(StateFault) {
                if try journal(generation).isUncommitted { found.insert(generation) }
            } catch {
                if error.kind != .damage { throw error }
            }
        }
        return found
    }

    /// The highest revision number in the readable journals.
    package var newestRevision: UInt64 {
        journals.compactMap { try? journal($0).newestRevision }.max() ?? 0
    }
}
