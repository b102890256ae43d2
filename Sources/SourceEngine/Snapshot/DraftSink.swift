// SPDX-License-Identifier: MIT
import GeoJSON
import ImageStore

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
