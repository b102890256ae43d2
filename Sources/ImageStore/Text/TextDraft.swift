// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// The beginning of a snapshot: a file with the features' text, written before the other sections are known.
///
/// It has no header until it becomes a snapshot. If it never does, it is deleted with its last reference.
/// Several threads may write parts.
package final class TextDraft: Sendable {
    private let file: FileDescriptor
    /// The path under which it was created.
    package let path: String
    private let sums = PageSums()
    private let state = Mutex(State())
    private let written = Atomic<Int>(0)

    private struct State {
        var failure: FileError?
        /// Whether the file still has its name.
        var isNamed = true
    }

    package init(_ path: String) throws(FileError) {
        self.path = path
        file = try FileIO.create(path)
    }

    deinit { if state.withLock({ $0.isNamed }) { FileIO.remove(path) } }

    /// The number of bytes of text written so far.
    package var bytes: Int { written.load(ordering: .relaxed) }

    /// The first failed write; nil if none failed.
    package var failure: FileError? { state.withLock { $0.failure } }

    /// Writes a part of the text. Safe from any thread as long as parts do not overlap.
    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        do throws(FileError) {
            try SectionFileWriter.write(
                bytes, at: SourceImage.pageSize + offset, to: file, path, sums, threads: 1)
        } catch {
            return state.withLock { $0.failure = $0.failure ?? error }
        }
        written.add(bytes.count, ordering: .relaxed)
    }

    /// An image of the text, which begins with its second page; nil if some of the text is missing.
    package func image(count: Int, _ memory: PageMemory) -> SourceImage? {
        guard failure == nil, bytes == count else { return nil }
        let size = SourceImage.pageSize + count
        return try? SourceImage(
            file, path: path, size: size, checksums: sums.list(size: size), text: SourceImage.pageSize..<size,
            memory: memory)
    }

    /// Turns the file into a snapshot under a new name; nil if it was handed over before, or cannot be
    /// renamed.
    ///
    /// - Parameter name: of the section that is the text.
    package func hand(to new: String, section name: UInt32, count: Int, threads: Int) -> SectionFileWriter? {
        let isOurs = state.withLock { state in
            guard state.isNamed, (try? FileIO.rename(path, to: new)) != nil else { return false }
            state.isNamed = false
            return true
        }
        guard isOurs else { return nil }
        return SectionFileWriter(continuing: file, new, section: name, count: count, sums, threads: threads)
    }
}
