// SPDX-License-Identifier: MIT
import Clustering
import Compression
import GeoJSON
import Glibc

/// The sections of a snapshot: a good index and a good store, damaged as the input says. Whatever their sizes
/// admit must be safe to ask, since damage in an image is found while it is read. What cannot be read of an index is
/// zeros (see `IndexMemory`); a store bears any bytes.
///
/// The input is a list of changes of four bytes: a section, a place (two bytes), and a number: how many words of an index
/// are lost there, or what is added to a byte of a store.
final class SnapshotTarget: FuzzTarget {
    private let options = ClusteringOptions()
    private let count = 150
    private var good: [IndexSection: [UInt8]] = [:]
    private var store: [[UInt8]] = []

    init() {
        let longitudes = (0..<count).map { Double($0 * $0 % 311 - 150) }
        let latitudes = (0..<count).map { Double($0 * 7 % 53 - 20) }
        let index = longitudes.withUnsafeBufferPointer { longitudes in
            latitudes.withUnsafeBufferPointer { latitudes in
                try? ClusterIndex.build(
                    ProjectedPoints(longitudes: longitudes, latitudes: latitudes, options: options))
            }
        }
        index?.forEachSection { (section: IndexSection, bytes: UnsafeRawBufferPointer) in
            good[section] = Array(bytes)
        }
        if good.isEmpty { violated("an index can be built") }
        var builder = FeatureStoreBuilder(policy: .reject, promoteId: nil)
        let features = (0..<count).map {
            #"{"type":"Feature","id":\#($0),"geometry":{"type":"Point","coordinates":[\#($0),1.5]},"properties":{"n":"\#($0)"}}"#
        }
        let text = "[\(features.joined(separator: ","))]"
        let accepted = (try? builder.append(features: Array(text.utf8))) != nil
        if !accepted { violated("features can be read") }
        keep(builder.finish())
    }

    private func keep(_ features: FeatureStore) {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { window.deallocate() }
        features.withText(0..<features.textBytes, window: window) { text in
            guard let text else { violated("text in memory can be read") }
            features.withRecordStarts { (blockStarts, offsets) throws(Never) in
                store = [Array(text), Array(blockStarts), Array(offsets)]
            }
        }
    }

    func take(_ input: UnsafeRawBufferPointer) {
        var (index, store) = (good, store)
        for change in stride(from: 0, to: input.count - 3, by: 4) {
            let place = Int(input[change + 1]) << 8 | Int(input[change + 2])
            if let section = IndexSection(rawValue: UInt32(input[change])) {
                lose(place, input[change + 3], of: &index[section, default: []])
            } else {
                add(place, input[change + 3], to: &store[Int(input[change]) % store.count])
            }
        }
        let memory = SectionMemory()
        ask(index.mapValues { memory.add($0) }, memory)
        ask(store.map { memory.add($0) }, memory)
    }

    /// Clears words of eight bytes, so that every value is whole; beyond the last it cuts or lengthens the section.
    private func lose(_ place: Int, _ count: UInt8, of bytes: inout [UInt8]) {
        guard place < bytes.count else { return resize(&bytes, by: count, with: 0) }
        let start = place & ~7
        for index in start..<min(start + 8 * Int(count), bytes.count) { bytes[index] = 0 }
    }

    /// Adds to a byte; beyond the last it cuts or lengthens the section.
    private func add(_ place: Int, _ value: UInt8, to bytes: inout [UInt8]) {
        guard place < bytes.count else { return resize(&bytes, by: value, with: value) }
        bytes[place] &+= value
    }

    private func resize(_ bytes: inout [UInt8], by number: UInt8, with filling: UInt8) {
        if number < 128 {
            bytes.removeLast(min(bytes.count, Int(number)))
        } else {
            bytes += [UInt8](repeating: filling, count: Int(number) - 127)
        }
    }

    private func ask(_ sections: [IndexSection: UnsafeRawBufferPointer], _ memory: SectionMemory) {
        guard
            let index = try? ClusterIndex.onSections(
                options: options, pointCount: count, memory: memory, sections: sections)
        else { return }
        var nodes: [Node] = []
        for zoom in 0...17 {
            _ = index.nodes(
                west: -180, south: -90, east: 180, north: 90, at: index.level(for: Double(zoom)), into: &nodes
            )
        }
        for ordinal in 0..<UInt32(index.clusterCount) {
            let cluster = ClusterOrdinal(rawValue: ordinal)
            _ = index.children(of: cluster).map { index.parent(of: $0) }
            _ = index.leaves(of: cluster).reduce(0) { $0 &+ $1.rawValue }
            _ = (index.id(of: cluster), index.expansionZoom(of: cluster), index.coordinates(of: cluster))
        }
    }

    private func ask(_ sections: [UnsafeRawBufferPointer], _ memory: SectionMemory) {
        let text = StoredText(sections[0], memory)
        guard let store = try? FeatureStore.onSections(text, blockStarts: sections[1], offsets: sections[2]) else {
            return
        }
        for row in 0..<store.count {
            _ = store.coordinates(row)
            store.withProperties(row) { _ = $0.count }
        }
    }
}

/// Text in memory, in place of an image's.
private final class StoredText: FeatureText {
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
    private let memory: SectionMemory

    init(_ bytes: UnsafeRawBufferPointer, _ memory: SectionMemory) { (self.bytes, self.memory) = (bytes, memory) }

    var isDamaged: Bool { false }
    var isEvictable: Bool { false }
    func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool { true }
    func fill(_ window: UnsafeMutableRawBufferPointer, from place: Int) -> Range<Int>? { nil }
    func verify(goesOn: () -> Bool) -> Bool { true }
}

/// Sections in aligned memory of their own, so that a read beyond one is seen. Used by one thread, so
/// `@unchecked Sendable` is sound.
final class SectionMemory: IndexMemory, @unchecked Sendable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []

    var isDamaged: Bool { false }
    var isResident: Bool { true }
    var isEvictable: Bool { false }

    func add(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        block.copyBytes(from: bytes)
        blocks.append(block)
        return UnsafeRawBufferPointer(block)
    }

    deinit { for block in blocks { block.deallocate() } }
}
