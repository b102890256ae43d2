// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Synchronization

/// Texts of features as they were printed, found by their nodes. Safe from any thread, without a lock.
///
/// Invariant: `texts` has `capacity` bytes and `entries` has `mask + 1`, until the end. What lies below `used` has been
/// given to one writer each, who writes his bytes before he makes an entry of them; after that nobody writes them
/// again. An entry other than 0 is therefore a text's place, and who has read it may read the text. That is why
/// this may be shared.
final class PrintedTexts: @unchecked Sendable {
    private let texts: UnsafeMutableRawPointer
    private let entries: UnsafeMutablePointer<Atomic<UInt64>>
    private let mask: Int
    let capacity: Int
    private let used = Atomic<Int>(alignment)

    /// Of texts' places, so that their lowest bits are free. None begins at 0.
    private static let alignment = 8
    /// Each text's length stands before it.
    private static let lengthBytes = MemoryLayout<UInt32>.size
    /// Half as much as the shortest texts, so that few nodes share an entry.
    private static let bytesPerEntry = 64
    /// Longer texts than would leave room for so many are not kept.
    private static let fewestTexts = 16

    /// - Parameter capacity: bytes of texts; a power of two from 64 up, less than 4 GiB.
    init(capacity: Int) {
        self.capacity = capacity
        let count = capacity / Self.bytesPerEntry
        mask = count - 1
        texts = .allocate(byteCount: capacity, alignment: Self.alignment)
        entries = .allocate(capacity: count)
        for place in 0..<count { (entries + place).initialize(to: Atomic(0)) }
    }

    deinit {
        entries.deinitialize(count: mask + 1)
        entries.deallocate()
        texts.deallocate()
    }

    /// Bytes that are held.
    var memoryBytes: Int { capacity + (mask + 1) * MemoryLayout<UInt64>.stride }

    /// Writes a node's feature; false where its text is not here.
    @inline(__always) func write(_ node: Node, into bytes: inout ByteWriter) -> Bool {
        let (number, kind) = Self.parts(node)
        let entry = entries[Int(number) & mask].load(ordering: .acquiring)
        guard entry != 0, entry >> 32 == UInt64(number), entry & 1 == kind else { return false }
        let start = Int(entry & 0xffff_fff8)
        let length = Int(texts.load(fromByteOffset: start, as: UInt32.self))
        bytes.append(
            contentsOf: UnsafeRawBufferPointer(start: texts + start + Self.lengthBytes, count: length))
        return true
    }

    /// Keeps a node's feature, unless it is very long. What shares its entry is found no more.
    ///
    /// - Returns: false where there is no room left.
    func keep(_ text: UnsafeRawBufferPointer, of node: Node) -> Bool {
        guard let source = text.baseAddress, text.count <= capacity / Self.fewestTexts else { return true }
        let taken = (text.count + Self.lengthBytes + Self.alignment - 1) & ~(Self.alignment - 1)
        let start = used.add(taken, ordering: .relaxed).oldValue
        guard start <= capacity - taken else { return false }
        texts.storeBytes(of: UInt32(truncatingIfNeeded: text.count), toByteOffset: start, as: UInt32.self)
        (texts + start + Self.lengthBytes).copyMemory(from: source, byteCount: text.count)
        let (number, kind) = Self.parts(node)
        entries[Int(number) & mask].store(
            UInt64(number) << 32 | UInt64(truncatingIfNeeded: start) | kind, ordering: .releasing)
        return true
    }

    @inline(__always) private static func parts(_ node: Node) -> (number: UInt32, kind: UInt64) {
        switch node {
        case .point(let point): (point.rawValue, 0)
        case .cluster(let cluster): (cluster.rawValue, 1)
        }
    }
}
