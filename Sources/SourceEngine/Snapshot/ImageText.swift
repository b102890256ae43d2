// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import ImageStore
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

    package func verify(isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?) -> Bool {
        image.verify(isCancelled: isCancelled, demand: demand, pause: pause)
    }
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
    package func verify(isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?) -> Bool { false }
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
