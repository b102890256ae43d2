// SPDX-License-Identifier: MIT
import Compression
import SystemSupport

/// A file of named arrays, which is the format of snapshots.
///
/// Numbers are in the machine's byte order, which the header states. The header comes first:
///
///     0   "clusterd"            24  number of sections, 32 bits
///     8   format version        28  CRC-32 of the table
///     12  kind of file          32  where the table begins, 64 bits
///     16  0x01020304            40  the file's size, 64 bits
///     20  CRC-32 of the header  48  the snapshot's generation, 64 bits
///                               56  where the last section ends, 64 bits
///
/// The header's CRC is computed with its own field set to zero. The first section begins with the second page
/// of `SourceImage.pageSize` bytes, the others at multiples of 64. After the last come the checksums of all
/// pages before them, 64 bits each; the last of these pages ends with the last section. At the end is the
/// table. Each entry holds a section's name, 64 zero bits, its offset and its length, 64 bits each. The entry
/// of the checksums, which is the last, has their `BlockChecksum` in place of zeros.
package enum SectionFile {
    package static let magic: [UInt8] = Array("clusterd".utf8)
    package static let byteOrder: UInt32 = 0x0102_0304
    package static let headerSize = 64
    package static let entrySize = 32
    /// The name of the section with the checksums of pages.
    static let pageChecksums: UInt32 = 0
    package static let alignment = 64
    package static let mostSections = 1 << 16

    package enum Kind: UInt32 {
        case snapshot = 1
        case journal = 2

        /// The format version that is written. `docs/versioning.md` lists the versions.
        ///
        /// A version rises when an older clusterd would misread the file: when a section or record changes
        /// its meaning, or when one is added that must not be ignored. A section or record member that may be
        /// ignored needs no new version.
        package var version: UInt32 {
            switch self {
            case .snapshot: 4
            case .journal: 3
            }
        }

        /// The oldest version that is read.
        var oldestVersion: UInt32 {
            switch self {
            case .snapshot: 3
            case .journal: 2
            }
        }
    }

    /// Checks the header that all files of the state directory share.
    package static func checkStart(_ bytes: [UInt8], _ kind: Kind, _ path: String) throws(StateFault) {
        guard bytes.count >= headerSize else {
            throw StateFault("\(path) is cut short: it has \(bytes.count) bytes")
        }
        guard bytes.starts(with: magic) else { throw StateFault("\(path) is not a file of clusterd") }
        let found: UInt32 = number(at: 8, in: bytes)
        // A version number proves a newer format only if the header's checksum is correct. Otherwise it is damage.
        let isIntact = headerChecksum(bytes) == number(at: 20, in: bytes)
        guard !isIntact || found <= kind.version else {
            throw StateFault(
                newerFormat:
                    "\(path) was written by a newer clusterd: it has format version \(found), and this one reads up to \(kind.version). Start the newer clusterd; nothing was changed"
            )
        }
        guard !isIntact || found >= kind.oldestVersion || found == 0 else { throw StateFault(olderFormat: path) }
        guard number(at: 16, in: bytes) == byteOrder, number(at: 12, in: bytes) == kind.rawValue, isIntact,
            found > 0
        else { throw StateFault("\(path) is damaged in its header") }
    }

    package static func headerChecksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var header = Array(bytes.prefix(headerSize))
        store(UInt32(0), at: 20, in: &header)
        return checksum(header[...])
    }

    /// The CRC-32 of bytes, which continues that of the bytes before them.
    package static func checksum(_ bytes: ArraySlice<UInt8>, from start: UInt32 = 0) -> UInt32 {
        Zlib.crc32(bytes.span, from: start)
    }

    /// A file's header, with its checksum.
    package static func header(_ kind: Kind, _ fill: (inout [UInt8]) -> Void) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: headerSize)
        header.replaceSubrange(0..<magic.count, with: magic)
        store(kind.version, at: 8, in: &header)
        store(kind.rawValue, at: 12, in: &header)
        store(byteOrder, at: 16, in: &header)
        fill(&header)
        store(headerChecksum(header), at: 20, in: &header)
        return header
    }

    package static func store<Number: FixedWidthInteger & BitwiseCopyable>(
        _ value: Number, at offset: Int, in bytes: inout [UInt8]
    ) {
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        raw.storeBytes(of: value, toByteOffset: offset, as: Number.self)
    }

    /// The number at an offset.
    package static func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, in bytes: [UInt8]
    ) -> Number {
        bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
    }
}
