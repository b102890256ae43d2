// SPDX-License-Identifier: MIT
import Compression
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

extension BlockText: FeatureText {}

/// The position of the features' text in a written snapshot.
package struct WrittenText: Sendable {
    let file: FileDescriptor
    /// The range of bytes in the file.
    let range: Range<Int>
    /// The checksums of blocks of `TextGuard.chunkSize` bytes.
    let coarse: [UInt64]
    /// The checksums of blocks of `FineChecksums.blockSize` bytes.
    let fine: [UInt64]

    /// Turns the file to which a plain store's text was spilled, if there is one, into a snapshot.
    ///
    /// - Returns: the writer of the snapshot's other sections.
    static func taking(_ store: FeatureStore, as path: String) -> (SectionFileWriter, WrittenText)? {
        guard let draft = (store.text as? BlockText)?.draft,
            let (coarse, fine) = draft.checksums(count: store.textBytes), draft.hand(to: path)
        else { return nil }
        let writer = SectionFileWriter(
            continuing: draft.file, path, section: SnapshotSection.text, count: store.textBytes,
            checksum: SectionFile.checkedElsewhere)
        let range = TextDraft.start..<TextDraft.start + store.textBytes
        return (writer, WrittenText(file: draft.file, range: range, coarse: coarse, fine: fine))
    }

    func writeChecksums(to writer: SectionFileWriter, threads: Int) throws(FileError) {
        try writer.add(SnapshotSection.textChecksums, coarse)
        var failure: FileError?
        fine.withUnsafeBytes { fine in
            do throws(FileError) {
                try writer.add(SnapshotSection.fineTextChecksums, inPieces: fine, threads: threads)
            } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Writes the text of a plain store on several threads. If the text cannot be read, the store
    /// `isDamaged` afterwards, and the file is useless.
    ///
    /// - Complexity: O(text).
    static func write(
        _ store: FeatureStore, to writer: SectionFileWriter, threads: Int
    ) throws(FileError) -> WrittenText {
        let count = store.textBytes
        let start = writer.reserve(SnapshotSection.text, count: count, checksum: SectionFile.checkedElsewhere)
        let (file, path) = (writer.file, writer.path)
        let pieces = (count + pieceSize - 1) / pieceSize
        let done = Mutex<[Int: Sums]>([:])
        let failure = Mutex<FileError?>(nil)
        Parallel(.shared, threads: threads).forEach(below: pieces) { piece in
            guard failure.withLock({ $0 == nil }) else { return }
            let range = piece * pieceSize..<min(count, (piece + 1) * pieceSize)
            let window = UnsafeMutableRawBufferPointer.allocate(
                byteCount: store.text == nil ? 1 : range.count, alignment: 16)
            defer { window.deallocate() }
            store.withText(range, window: window) { bytes in
                guard let bytes else { return }
                let sums = Sums(bytes)
                done.withLock { $0[piece] = sums }
                do throws(FileError) {
                    try FileIO.write(bytes, to: file, at: start + range.lowerBound, path: path)
                } catch { failure.withLock { $0 = error } }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let sums = done.withLock { done in (0..<pieces).map { done[$0] ?? Sums() } }
        return WrittenText(
            file: file, range: start..<start + count, coarse: sums.flatMap(\.coarse),
            fine: sums.flatMap(\.fine))
    }

    /// A multiple of what one checksum covers.
    private static let pieceSize = 64 * TextGuard.chunkSize

    private struct Sums {
        var coarse: [UInt64] = []
        var fine: [UInt64] = []

        init() {}

        init(_ bytes: UnsafeRawBufferPointer) {
            coarse = BlockChecksum.list(of: bytes, blockSize: TextGuard.chunkSize)
            fine = BlockChecksum.list(of: bytes, blockSize: FineChecksums.blockSize)
        }
    }
}

extension Revision {
    /// The same data with the features' text in the file that has just been written, or the revision itself if the text is short enough
    /// to stay in memory.
    ///
    /// - Parameter path: the file's name from now on.
    package func reading(_ written: WrittenText, path: String) -> Revision {
        guard written.range.count >= shared.limits.textInMemory,
            let text = BlockText(
                written.file, path: path, range: written.range, checksums: written.fine,
                blockSize: FineChecksums.blockSize, cache: shared.texts)
        else { return self }
        return with(store.moved(to: store.plainBase.reading(text)))
    }
}
