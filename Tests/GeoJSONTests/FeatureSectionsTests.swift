// SPDX-License-Identifier: MIT
import Compression
import JSON
import Testing

@testable import GeoJSON

/// A store's sections copied into one piece of memory each, as a file would hold them.
private final class SectionsCopy {
    var parts: [UnsafeMutableRawBufferPointer] = []

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
            BlockChecksum.list(of: text, blockSize: TextGuard.chunkSize).withUnsafeBytes { add($0) }
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
        let sections = FeatureSections(
            text: UnsafeRawBufferPointer(parts[0]), blockStarts: UnsafeRawBufferPointer(parts[1]),
            offsets: UnsafeRawBufferPointer(parts[2]), checksums: UnsafeRawBufferPointer(parts[3]))
        return try FeatureStore.onSections(sections, owner: self)
    }
}

@Suite("Features in a file's sections")
struct FeatureSectionsTests {
    private static func features(_ count: Int) throws -> FeatureStore {
        let texts = (0..<count).map {
            feature("\($0)", "[\(Double($0) / 100),1]", #"{"name":"place \#($0)"}"#)
        }
        return try store("[\(texts.joined(separator: ","))]")
    }

    @Test("a copy of some features has them, unless their text is too long")
    func copy() throws {
        let original = try Self.features(300)
        let rows = [0, 1, 7, 63, 64, 200, 299]
        let copy = try #require(original.copy(of: rows, mostBytes: 1 << 16))
        #expect(copy.count == rows.count)
        #expect(copy.isAtHand)
        for (place, row) in rows.enumerated() {
            let (expected, actual) = (
                original.withProperties(row) { Array($0) }, copy.withProperties(place) { Array($0) }
            )
            #expect(actual == expected)
            #expect(copy.coordinates(place) == original.coordinates(row))
        }
        #expect(original.copy(of: rows, mostBytes: 10) == nil)
        #expect(original.copy(of: [], mostBytes: 0)?.count == 0)
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

    @Test("damaged text is not returned, and is reported")
    func damagedText() throws {
        let original = try Self.features(3000)
        let copy = SectionsCopy(original)
        copy.parts[0][TextGuard.chunkSize + 100] ^= 1
        let mapped = try copy.open()
        #expect(mapped.text(0) == original.text(0))
        #expect(!mapped.isDamaged)
        let broken = (0..<3000).filter { mapped.text($0) != original.text($0) }
        #expect(!broken.isEmpty)
        #expect(mapped.isDamaged)
        #expect(broken.allSatisfy { mapped.residentRecord($0).properties.isEmpty })
        #expect(!mapped.verifyText())
        #expect(try !copy.open().verifyText())
    }

    @Test("every flipped byte and every truncation is rejected, detected, or changes nothing")
    func damage() throws {
        let original = try Self.features(150)
        let expected = (0..<150).map { original.text($0) }
        for part in 0..<4 {
            let size = SectionsCopy(original).parts[part].count
            for place in 0..<size {
                let (flipped, shortened) = (SectionsCopy(original), SectionsCopy(original))
                flipped.parts[part][place] ^= UInt8(1 << (place % 8))
                shortened.cut(part, to: place)
                // Offsets and starts are checked against each other alone here: whoever owns the file
                // compares their checksums.
                for copy in [flipped, shortened] {
                    guard let mapped = try? copy.open() else { continue }
                    let texts = (0..<mapped.count).map { mapped.text($0) }
                    if part == 0 || part == 3 { #expect(mapped.isDamaged || texts == expected) }
                }
            }
        }
    }
}
