// SPDX-License-Identifier: MIT
import SystemSupport

/// What a journal's header says.
package struct JournalHeader: Sendable, Equatable {
    /// The format version.
    package let version: UInt32
    package let generation: UInt64
    /// The number of its snapshot's revision.
    package let revision: UInt64
    /// Whether it continues the previous journal; otherwise it follows a snapshot of other data.
    package let continues: Bool
    /// The generation of the journal that it continues; 0 if the header does not name it.
    package let previous: UInt64
    /// Whether its snapshot is valid only after the mark says so.
    package let awaitsMark: Bool

    /// - Throws: damage if the header does not have its checksum, or `newerFormat`.
    init(_ bytes: UnsafeRawBufferPointer, _ path: String) throws(StateFault) {
        try SectionFile.checkStart(bytes, .journal, path)
        version = bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        continues = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self) != 0
        awaitsMark = bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self) != 0
        revision = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
        generation = bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
        previous = bytes.loadUnaligned(fromByteOffset: 56, as: UInt64.self)
    }
}
