// SPDX-License-Identifier: MIT
import GeoJSON
import SourceStorage

/// Writes features' text into a draft while it is gathered.
final class DraftSink: TextSink {
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
