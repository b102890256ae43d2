// SPDX-License-Identifier: MIT
import GeoJSON
import ImageStore
import Synchronization
import SystemSupport

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
