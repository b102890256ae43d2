// SPDX-License-Identifier: MIT
import Compression
import GeoJSON
import ImageStore
import SourceEngine
import SystemSupport

/// A snapshot's bytes, whatever of them is damaged.
final class SnapshotText: FeatureText {
    private let file: FileImage
    private let sections: [UInt32: Range<Int>]
    /// The ranges of the file that are damaged: pages.
    let damage: [Range<Int>]
    private let damagedPages: Set<Int>

    /// Loads a snapshot, whose table and checksums must be intact.
    init(_ path: String) throws(StateFault) {
        let opened = try OpenedSections(path)
        do throws(FileError) { file = try FileImage(loading: path) } catch { throw StateFault(error) }
        sections = opened.sections
        let (size, bytes) = (SourceImage.pageSize, file.bytes)
        // The first page has the header, which has been checked.
        let pages = opened.checksums.indices.dropFirst().filter { page in
            let range = page * size..<min((page + 1) * size, opened.end)
            return range.upperBound > bytes.count
                || BlockChecksum.of(UnsafeRawBufferPointer(rebasing: bytes[range]).bytes)
                    != opened.checksums[page]
        }
        damagedPages = Set(pages)
        damage = pages.map { $0 * size..<min(($0 + 1) * size, opened.end) }
    }

    private func section(_ name: UInt32) -> UnsafeRawBufferPointer {
        sections[name].map {
            UnsafeRawBufferPointer(rebasing: file.bytes[$0.clamped(to: 0..<file.bytes.count)])
        }
            ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// The features. Those that `isVerified` denies may be anything.
    func store() throws(StateFault) -> FeatureStore {
        do throws(FeatureSectionError) {
            return try FeatureStore.onSections(
                self, blockStarts: section(SnapshotSection.blockStarts),
                offsets: section(SnapshotSection.offsets))
        } catch { throw StateFault("\(file.path): \(error.message)") }
    }

    /// Whether no damaged page has a part of a feature's record, or of what says where it is.
    func isVerified(_ row: Int, of store: FeatureStore) -> Bool {
        let last = min(row + 1, store.count - 1)
        return isIntact(store.recordRange(row), of: SnapshotSection.text)
            && isIntact(row * 4..<(last + 1) * 4, of: SnapshotSection.offsets)
            && isIntact(row / 64 * 8..<(last / 64 + 1) * 8, of: SnapshotSection.blockStarts)
    }

    private func isIntact(_ range: Range<Int>, of name: UInt32) -> Bool {
        guard !range.isEmpty, !damagedPages.isEmpty, let start = sections[name]?.lowerBound else {
            return true
        }
        let size = SourceImage.pageSize
        return !((start + range.lowerBound) / size...(start + range.upperBound - 1) / size)
            .contains { damagedPages.contains($0) }
    }

    var bytes: UnsafeRawBufferPointer { section(SnapshotSection.text) }
    var isDamaged: Bool { !damagedPages.isEmpty }
    var isEvictable: Bool { false }
    func isResident(_ range: Range<Int>, room: inout Int) -> Bool { true }
    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
    func verify(isCancelled: () -> Bool, demand: () -> Int, pause: (() -> Void)?) -> Bool { !isDamaged }
}
