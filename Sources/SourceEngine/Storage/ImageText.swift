// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import ImageStore
import Synchronization
import SystemSupport

extension SourceImage: IndexMemory {
    package func willRead(_ addresses: [UnsafeRawPointer]) { readAhead(addresses) }
}

/// Features' text in a file that can become a snapshot.
package protocol SnapshotBeginning: FeatureText {
    /// Turns the file into a snapshot under a new name, to which the other sections are added; nil if it cannot become one.
    func begin(_ new: String, threads: Int) throws(FileError) -> SectionFileWriter?
}

/// Features' text in an image.
package final class ImageText: SnapshotBeginning {
    package let image: SourceImage
    package nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
    /// Where the text begins in the image, which is at a page.
    private let start: Int
    /// The file to which the text was gathered, if it is not a snapshot yet.
    let draft: TextDraft?

    /// - Parameter bytes: of the image.
    init(_ image: SourceImage, _ bytes: UnsafeRawBufferPointer, draft: TextDraft? = nil) {
        (self.image, self.bytes, self.draft) = (image, bytes, draft)
        start = image.offset(of: bytes)
    }

    package func begin(_ new: String, threads: Int) -> SectionFileWriter? { draft?.begin(new, threads: threads) }

    package var isDamaged: Bool { image.isDamaged }
    package var isEvictable: Bool { image.isEvictable }

    package func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool {
        image.isResident(part, room: &room)
    }

    package func willRead(_ addresses: [UnsafeRawPointer]) { image.readAhead(addresses) }

    package func fill(_ window: UnsafeMutableRawBufferPointer, from offset: Int) -> Range<Int>? {
        let page = SourceImage.pageSize
        let first = (start + offset) / page * page
        let last = min(image.bytes.count, (start + bytes.count + page - 1) / page * page)
        let end = min(last, first + window.count / page * page)
        guard offset >= 0, offset < bytes.count, first < end else { return nil }
        let target = UnsafeMutableRawBufferPointer(rebasing: window[..<(end - first)])
        guard image.copy(first..<end, into: target) else { return nil }
        return first - start..<min(end - start, bytes.count)
    }

    package func verify(goesOn: () -> Bool) -> Bool { image.verify(goesOn: goesOn) }
}

/// Text that could not be written. Every read fails.
package final class LostText: FeatureText {
    package let failure: FileError?

    init(failure: FileError?) { self.failure = failure }

    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
    package var isDamaged: Bool { true }
    package var isEvictable: Bool { false }
    package func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool { true }
    package func fill(_ window: UnsafeMutableRawBufferPointer, from offset: Int) -> Range<Int>? { nil }
    package func verify(goesOn: () -> Bool) -> Bool { false }
}

extension FeatureStore {
    /// The error of the system if the file with the text could not be read or written.
    package var failure: FileError? {
        (text as? LostText)?.failure ?? (text as? ImageText)?.image.failure
    }

    /// The file whose index by id is damaged; nil if that has not been found.
    var lacksIdentifiers: String? {
        guard let image = (text as? ImageText)?.image, image.hasLost else { return nil }
        return image.path
    }

    /// Throws if the features' text could not be written.
    package func checkWritten() throws(SourceError) {
        guard isDamaged else { return }
        guard let failure else {
            throw .stateNotWritable("the disk gives other bytes back than were written; nothing has changed")
        }
        throw SourceError(failure)
    }
}

extension FeatureStore {
    /// Lends a range of its text, in memory of the call's own if it is read from a file; nil if it cannot be read.
    func withText(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer?) -> Void) {
        let window = UnsafeMutableRawBufferPointer.allocate(
            byteCount: range.count + FeatureStore.textStep, alignment: 16)
        defer { window.deallocate() }
        withText(range, window: window, body)
    }
}

/// The beginning of a snapshot: a file with the features' text, written before the other sections are known.
///
/// It has no header until it becomes a snapshot. If it never does, it is deleted with its last reference.
final class TextDraft: TextSink {
    /// The path under which it was created.
    private let path: String
    private let writer: SectionFileWriter
    private let pages: PageMemory
    private let state = Mutex(State())
    private let written = Atomic<Int>(0)

    private struct State {
        var failure: FileError?
        /// Whether the file still has its name.
        var isNamed = true
    }

    init(_ path: String, _ pages: PageMemory) throws(FileError) {
        (self.path, self.pages) = (path, pages)
        writer = try SectionFileWriter(path)
    }

    deinit { if state.withLock({ $0.isNamed }) { FileIO.remove(path) } }

    /// The number of bytes of text written so far.
    var bytes: Int { written.load(ordering: .relaxed) }

    /// The first failed write; nil if none failed.
    var failure: FileError? { state.withLock { $0.failure } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        do throws(FileError) { try writer.write(bytes, at: SourceImage.pageSize + offset) } catch {
            return state.withLock { $0.failure = $0.failure ?? error }
        }
        written.add(bytes.count, ordering: .relaxed)
    }

    func finish(count: Int) -> any FeatureText {
        guard failure == nil, bytes == count, let image = try? writer.image(ofText: count, pages) else {
            return LostText(failure: failure)
        }
        return ImageText(image, UnsafeRawBufferPointer(rebasing: image.bytes[SourceImage.pageSize...]), draft: self)
    }

    /// Turns the file into a snapshot under a new name, to which the other sections are added; nil if it was turned
    /// into one before, or cannot be renamed.
    func begin(_ new: String, threads: Int) -> SectionFileWriter? {
        let isOurs = state.withLock { state in
            guard state.isNamed, (try? writer.rename(to: new)) != nil else { return false }
            state.isNamed = false
            return true
        }
        guard isOurs else { return nil }
        writer.threads = threads
        return writer
    }
}

/// Makes the files to which features' text goes that is too long for memory.
final class DraftMaker: Sendable {
    private let directory: String
    private let pages: PageMemory
    private let longest: Int
    private let draft = Mutex<TextDraft?>(nil)
    private static let number = Atomic<UInt64>(0)

    /// - Returns: nil if the source has no files.
    init?(_ files: SourceFiles?, _ shared: SharedState) {
        guard let files else { return nil }
        (directory, pages, longest) = (files.directory, shared.pages, shared.limits.textGathered)
    }

    /// Bytes of the text that are in the file.
    var bytes: Int { draft.withLock { $0 }?.bytes ?? 0 }

    /// Why text could not be written.
    var failure: FileError? { draft.withLock { $0 }?.failure }

    /// The spill for one text.
    var spill: TextSpill {
        TextSpill(from: longest) { [self] in
            let number = Self.number.add(1, ordering: .relaxed).newValue
            let path = "\(directory)/\(SourceFiles.temporaryPrefix)text-\(number)"
            // If the file cannot be created, the text stays in memory, and writing the snapshot reports the error.
            guard let made = try? TextDraft(path, pages) else { return nil }
            draft.withLock { $0 = made }
            return made
        }
    }
}
