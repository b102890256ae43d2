// SPDX-License-Identifier: MIT
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

/// Writes features' text that is too long for memory to a file that becomes the source's next snapshot.
package final class DraftMaker: Sendable {
    private let directory: String
    private let cache: BlockCache
    private let longest: Int
    private let draft = Mutex<TextDraft?>(nil)
    private static let number = Atomic<UInt64>(0)

    /// - Returns: nil if the source has no files.
    package init?(_ files: SourceFiles?, _ shared: SharedState) {
        guard let files else { return nil }
        (directory, cache, longest) = (files.directory, shared.texts, shared.limits.textGathered)
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
            // If the file cannot be created, the text stays in memory, and writing the snapshot reports the error.
            guard let made = try? TextDraft(path) else { return nil }
            draft.withLock { $0 = made }
            return DraftSink(draft: made, cache: cache)
        }
    }
}

private final class DraftSink: TextSink {
    private let draft: TextDraft
    private let cache: BlockCache

    init(draft: TextDraft, cache: BlockCache) { (self.draft, self.cache) = (draft, cache) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) { draft.write(bytes, at: offset) }

    func finish(count: Int) -> any FeatureText {
        let range = TextDraft.start..<TextDraft.start + count
        guard let checksums = draft.checksums(count: count)?.fine,
            let text = BlockText(
                draft.file, path: draft.path, range: range, checksums: checksums,
                blockSize: TextDraft.fineSize, cache: cache, draft: draft)
        else { return LostText(count: count, failure: draft.failure) }
        return text
    }
}

/// Text that could not be written. Every read fails.
package final class LostText: FeatureText {
    package let count: Int
    package let failure: FileError?

    fileprivate init(count: Int, failure: FileError?) { (self.count, self.failure) = (count, failure) }

    package var memoryBytes: Int { 0 }
    package var isDamaged: Bool { true }
    package var isAtHand: Bool { true }

    package func isAtHand(_ range: Range<Int>, room: inout Int) -> Bool { true }

    package func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) -> Bool { false }
    package func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
    package func verify(isCancelled: () -> Bool, pause: (() -> Void)?) -> Bool { false }
}

extension FeatureStore {
    /// Throws if the features' text could not be written.
    package func checkWritten() throws(SourceError) {
        guard isDamaged else { return }
        guard let failure = (text as? LostText)?.failure ?? (text as? BlockText)?.failure else {
            throw .stateNotWritable("the disk gives other bytes back than were written; nothing has changed")
        }
        throw SourceError(failure)
    }
}
