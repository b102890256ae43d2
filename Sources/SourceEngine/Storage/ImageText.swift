// SPDX-License-Identifier: MIT

import Clustering
import GeoJSON
import ImageStore
import Synchronization
import SystemSupport

extension SourceImage: IndexMemory {}

/// Features' text in an image.
package final class ImageText: FeatureText {
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

    package var isDamaged: Bool { image.isDamaged }
    package var isEvictable: Bool { image.isEvictable }

    package func isResident(_ range: Range<Int>, room: inout Int) -> Bool {
        image.isResident(start + range.lowerBound..<start + range.upperBound, room: &room)
    }

    package func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? {
        let page = SourceImage.pageSize
        let first = (start + place) / page * page
        let last = min(image.bytes.count, (start + bytes.count + page - 1) / page * page)
        let end = min(last, first + window.count / page * page)
        guard place >= 0, place < bytes.count, first < end else { return nil }
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
    package func isResident(_ range: Range<Int>, room: inout Int) -> Bool { true }
    package func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
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

/// Writes features' text that is too long for memory to a file that becomes the source's next snapshot.
package final class DraftMaker: Sendable {
    private let directory: String
    private let pages: PageMemory
    private let longest: Int
    private let draft = Mutex<TextDraft?>(nil)
    private static let number = Atomic<UInt64>(0)

    /// - Returns: nil if the source has no files.
    package init?(_ files: SourceFiles?, _ shared: SharedState) {
        guard let files else { return nil }
        (directory, pages, longest) = (files.directory, shared.pages, shared.limits.textGathered)
    }

    /// Bytes of the text that are in the file.
    package var bytes: Int { draft.withLock { $0 }?.bytes ?? 0 }

    /// Why text could not be written.
    package var failure: FileError? { draft.withLock { $0 }?.failure }

    /// The spill for one text.
    package var spill: TextSpill {
        TextSpill(from: longest) { [self] in
            let number = Self.number.add(1, ordering: .relaxed).newValue
            let path = "\(directory)/\(SourceFiles.temporaryPrefix)text-\(number)"
            // If the file cannot be created, the text stays in memory, and writing the snapshot reports the
            // error.
            guard let made = try? TextDraft(path) else { return nil }
            draft.withLock { $0 = made }
            return DraftSink(draft: made, pages: pages)
        }
    }
}

/// Writes features' text into a draft while it is gathered.
final class DraftSink: TextSink {
    private let draft: TextDraft
    private let pages: PageMemory

    init(draft: TextDraft, pages: PageMemory) { (self.draft, self.pages) = (draft, pages) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) { draft.write(bytes, at: offset) }

    func finish(count: Int) -> any FeatureText {
        guard let image = draft.image(count: count, pages) else { return LostText(failure: draft.failure) }
        return ImageText(
            image, UnsafeRawBufferPointer(rebasing: image.bytes[SourceImage.pageSize...]), draft: draft)
    }
}
