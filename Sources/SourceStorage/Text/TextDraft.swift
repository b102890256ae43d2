// SPDX-License-Identifier: MIT
import Compression
import Synchronization
import SystemSupport

/// The beginning of a snapshot: a file with the features' text, written before the other sections are known.
///
/// It has no header until it becomes a snapshot. If it never does, it is deleted with its last reference. Several threads
/// may write parts. Checksums are computed from the bytes in memory, not from what the disk returns.
package final class TextDraft: Sendable {
    package let file: FileDescriptor
    /// The path under which it was created.
    package let path: String
    private let state: Mutex<State>
    private let written = Atomic<Int>(0)

    private struct State {
        /// By chunk: its checksum and those of its blocks.
        var sums: [Int: Sums] = [:]
        /// Incomplete chunks.
        var partial: [Int: Partial] = [:]
        var failure: FileError?
        /// Whether the file still has its name.
        var isNamed = true
    }

    private struct Sums {
        let coarse: UInt64
        let fine: [UInt64]

        init(_ bytes: UnsafeRawBufferPointer) {
            coarse = BlockChecksum.of(bytes)
            fine = BlockChecksum.list(of: bytes, blockSize: TextDraft.fineSize)
        }
    }

    private struct Partial {
        var bytes = [UInt8](repeating: 0, count: TextDraft.chunkSize)
        var count = 0
    }

    /// The number of bytes that a checksum of each kind covers.
    package static let (chunkSize, fineSize) = (1 << 16, BlockCache.blockSize)
    /// The offset of the text in the file.
    package static let start = SectionFile.headerSize

    package init(_ path: String) throws(FileError) {
        self.path = path
        file = try FileIO.create(path)
        state = Mutex(State())
    }

    deinit { if state.withLock({ $0.isNamed }) { FileIO.remove(path) } }

    /// The number of bytes of text written so far.
    package var bytes: Int { written.load(ordering: .relaxed) }

    /// The first failed write; nil if none failed.
    package var failure: FileError? { state.withLock { $0.failure } }

    /// Writes a part of the text. Safe from any thread as long as parts do not overlap.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        do throws(FileError) {
            try FileIO.write(bytes, to: file, at: Self.start + offset, path: path)
        } catch {
            return state.withLock { $0.failure = $0.failure ?? error }
        }
        written.add(bytes.count, ordering: .relaxed)
        var place = 0
        while place < bytes.count {
            let chunk = (offset + place) / Self.chunkSize
            let end = min(bytes.count, (chunk + 1) * Self.chunkSize - offset)
            let part = UnsafeRawBufferPointer(rebasing: bytes[place..<end])
            if part.count == Self.chunkSize {
                let sums = Sums(part)
                state.withLock { $0.sums[chunk] = sums }
            } else {
                add(part, to: chunk, at: offset + place - chunk * Self.chunkSize)
            }
            place = end
        }
    }

    private func add(_ part: UnsafeRawBufferPointer, to chunk: Int, at offset: Int) {
        state.withLock { state in
            var partial = state.partial.removeValue(forKey: chunk) ?? Partial()
            partial.bytes.replaceSubrange(offset..<offset + part.count, with: part)
            partial.count += part.count
            if partial.count == Self.chunkSize {
                state.sums[chunk] = partial.bytes.withUnsafeBytes { Sums($0) }
            } else {
                state.partial[chunk] = partial
            }
        }
    }

    /// The checksums of the whole text; nil if some of it is missing.
    package func checksums(count: Int) -> (coarse: [UInt64], fine: [UInt64])? {
        state.withLock { state in
            let chunks = (count + Self.chunkSize - 1) / Self.chunkSize
            let rest = count % Self.chunkSize
            if rest > 0, let last = state.partial[chunks - 1], last.count == rest {
                state.sums[chunks - 1] = last.bytes.withUnsafeBytes {
                    Sums(UnsafeRawBufferPointer(rebasing: $0[..<rest]))
                }
            }
            guard state.failure == nil, state.sums.count == chunks else { return nil }
            let sums = (0..<chunks).compactMap { state.sums[$0] }
            return (sums.map(\.coarse), sums.flatMap(\.fine))
        }
    }

    /// Hands the file over under a new name to the caller, who turns it into a snapshot; false if it was handed over before, or
    /// cannot be renamed.
    package func hand(to new: String) -> Bool {
        state.withLock { state in
            guard state.isNamed, (try? FileIO.rename(path, to: new)) != nil else { return false }
            state.isNamed = false
            return true
        }
    }
}
