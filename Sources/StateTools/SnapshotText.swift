// SPDX-License-Identifier: MIT
import Compression
import GeoJSON
import SourceStorage
import Sources
import SystemSupport

/// The features' text of a snapshot, block by block, whatever else of the file is damaged.
struct SnapshotText {
    let sections: SectionFileReader
    let text: UnsafeRawBufferPointer
    private let checksums: [UInt64]
    /// The number of bytes that one checksum covers.
    private let blockSize: Int

    /// Loads a snapshot's table, its text and its text's checksums.
    init(_ path: String) throws(StateFault) {
        let file: FileImage
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        sections = try SectionFileReader(file, path: path)
        text = sections.bytes(SnapshotSection.text)
        let fine: [UInt64]? = try? sections.values(
            SnapshotSection.fineTextChecksums, count: Self.blocks(of: text, FineChecksums.blockSize))
        if let fine, (try? sections.verify(section: SnapshotSection.fineTextChecksums)) != nil {
            (checksums, blockSize) = (fine, FineChecksums.blockSize)
        } else {
            // An older clusterd wrote the file, or these checksums are damaged themselves.
            blockSize = TextGuard.chunkSize
            checksums = try sections.values(
                SnapshotSection.textChecksums, count: Self.blocks(of: text, blockSize))
        }
    }

    private static func blocks(of text: UnsafeRawBufferPointer, _ size: Int) -> Int {
        (text.count + size - 1) / size
    }

    /// The ranges of the file that contain damaged blocks of the text.
    var damagedBlocks: [Range<Int>] {
        let start = sections.offset(of: SnapshotSection.text)
        defer { withExtendedLifetime(sections.file) {} }
        return checksums.indices.compactMap { block in
            guard isDamaged(block) else { return nil }
            let range = range(block)
            return start + range.lowerBound..<start + range.upperBound
        }
    }

    /// Finds the damaged blocks in one pass.
    func damage() -> Damage {
        Damage(blocks: Set(checksums.indices.filter(isDamaged)), blockSize: blockSize)
    }

    /// The damaged parts of a text.
    struct Damage {
        let blocks: Set<Int>
        let blockSize: Int

        /// Whether a damaged block overlaps a range of the text.
        func touches(_ range: Range<Int>) -> Bool {
            guard !range.isEmpty, !blocks.isEmpty else { return false }
            return (range.lowerBound / blockSize...(range.upperBound - 1) / blockSize).contains {
                blocks.contains($0)
            }
        }
    }

    private func range(_ block: Int) -> Range<Int> {
        min(block * blockSize, text.count)..<min((block + 1) * blockSize, text.count)
    }

    private func isDamaged(_ block: Int) -> Bool {
        BlockChecksum.of(UnsafeRawBufferPointer(rebasing: text[range(block)])) != checksums[block]
    }
}
