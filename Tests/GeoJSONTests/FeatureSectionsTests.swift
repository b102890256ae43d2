// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import GeoJSON

/// A store's sections copied into one piece of memory each, as a file would hold them.
private final class SectionsCopy: FeatureText, @unchecked Sendable {
    var parts: [UnsafeMutableRawBufferPointer] = []
    /// The part of the text that is in memory; nil if the text is not in a file.
    var inMemory: Range<Int>?
    /// Whether what is beside the text is in memory.
    var hasOffsets = true

    init(_ store: FeatureStore) {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { window.deallocate() }
        store.withText(0..<store.textBytes, window: window) { text in
            guard let text else { return }
            add(text)
            store.withRecordStarts { (blockStarts, offsets) throws(Never) in
                add(blockStarts)
                add(offsets)
            }
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyMemory(from: bytes)
        parts.append(copy)
    }

    deinit { for part in parts { part.deallocate() } }

    func cut(_ part: Int, to count: Int) {
        let cut = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        cut.copyMemory(from: UnsafeRawBufferPointer(rebasing: parts[part][0..<count]))
        parts[part].deallocate()
        parts[part] = cut
    }

    func open() throws -> FeatureStore {
        try FeatureStore.onSections(
            self, blockStarts: UnsafeRawBufferPointer(parts[1]), offsets: UnsafeRawBufferPointer(parts[2]))
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(parts[0]) }
    var isDamaged: Bool { false }
    var isEvictable: Bool { inMemory != nil }
    func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool {
        guard let inMemory, let start = part.baseAddress, let own = bytes.baseAddress,
            bytes.indices.contains(start - own)
        else { return hasOffsets }
        return inMemory.contains(start - own..<start - own + part.count)
    }
    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
    func verify(goesOn: () -> Bool) -> Bool { true }
}

@Suite("Features in a file's sections") struct FeatureSectionsTests {
    private static func features(_ count: Int) throws -> FeatureStore {
        let texts = (0..<count).map {
            feature("\($0)", "[\(Double($0) / 100),1]", #"{"name":"place \#($0)"}"#)
        }
        return try store("[\(texts.joined(separator: ","))]")
    }

    @Test("a store on sections equals the original", arguments: [0, 1, 63, 64, 65, 2000])
    func roundTrip(_ count: Int) throws {
        let original = try Self.features(count)
        let mapped = try SectionsCopy(original).open()
        #expect(mapped.count == count)
        #expect((0..<count).allSatisfy { mapped.text($0) == original.text($0) })
        #expect(mapped.verifyText())
        #expect(!mapped.isDamaged)
        let joined = FeatureStore.joining([
            FeatureSlice(store: mapped, rows: 0..<count), FeatureSlice(store: original, rows: 0..<count),
        ])
        #expect((0..<count).allSatisfy { joined.text(count + $0) == original.text($0) })
    }

    @Test("features are on the disk if their text is not in memory and has not been replaced") func onDisk() throws {
        let original = try Self.features(100)
        let copy = SectionsCopy(original)
        let mapped = try copy.open()
        #expect((0..<100).allSatisfy { !mapped.isOnDisk($0) }, "the text is not in a file")
        copy.inMemory = 0..<copy.bytes.count / 2
        let evictable = try copy.open()
        #expect(!evictable.isOnDisk(0))
        #expect(evictable.isOnDisk(99))
        let changed = evictable.changing([FeatureReplacement(row: 99, newRow: 7)], adding: [], from: original)
        #expect(!changed.isOnDisk(99))
        #expect(changed.isOnDisk(98))
        copy.hasOffsets = false
        #expect(try copy.open().isOnDisk(0), "where its record begins is on the disk")
        #expect(!changed.isOnDisk(99))
    }

    @Test("whatever the bytes of a damaged image are, every record lies within the text") func damage() throws {
        let original = try Self.features(150)
        for part in 0..<3 {
            let size = SectionsCopy(original).parts[part].count
            for place in 0..<size {
                let (flipped, zeroed, shortened) = (
                    SectionsCopy(original), SectionsCopy(original), SectionsCopy(original)
                )
                flipped.parts[part][place] ^= UInt8(1 << (place % 8))
                for other in place..<min(size, place + 40) { zeroed.parts[part][other] = 0 }
                shortened.cut(part, to: place)
                for copy in [flipped, zeroed, shortened] {
                    guard let mapped = try? copy.open() else { continue }
                    for row in 0..<mapped.count { _ = mapped.text(row) }
                }
            }
        }
    }
}
