// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// Features' bytes one after another, in memory or borrowed from an owner.
///
/// Invariant: without an owner, `base` points to `capacity` bytes that this object owns, of which the first
/// `count` are written. With an owner, it points to `count` bytes that the owner keeps valid and nobody
/// writes, in which case nothing is ever appended. Once a `FeatureStore` has it, nobody writes either kind,
/// so it may be shared.
final class FeatureBlob: @unchecked Sendable {
    private(set) var base: UnsafeMutableRawPointer
    private(set) var count = 0
    private var capacity: Int
    private let owner: AnyObject?

    init(capacity: Int = 4096) {
        self.capacity = max(capacity, 64)
        base = LargePages.resize(nil, to: self.capacity)
        owner = nil
    }

    /// Borrows bytes that `owner` keeps valid and unchanged, such as a file's.
    init(borrowing bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        // An empty buffer has no address to point to.
        base =
            UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            ?? LargePages.resize(nil, to: 64)
        self.owner = bytes.baseAddress == nil ? nil : owner
        count = bytes.count
        capacity = max(bytes.count, 64)
    }

    deinit { if owner == nil { free(base) } }

    private func resize(to size: Int) {
        base = LargePages.resize(base, to: size)
        capacity = size
    }

    @inline(__always) func reserve(_ more: Int) {
        if capacity - count < more { resize(to: max(count + more, capacity + capacity / 2)) }
    }

    /// Counts bytes that the caller writes.
    func extend(by more: Int) {
        reserve(more)
        count += more
    }

    @inline(__always) func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: start, byteCount: bytes.count)
        count &+= bytes.count
    }

    /// Appends a length as unsigned LEB128: seven bits in each byte, the lowest first.
    @inline(__always) func append(length: Int) {
        reserve(10)
        var rest = UInt64(truncatingIfNeeded: length)
        while rest > 127 {
            base.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 128, toByteOffset: count, as: UInt8.self)
            count &+= 1
            rest >>= 7
        }
        base.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    func removeAll() { count = 0 }

    /// Releases unused capacity.
    func shrink() {
        resize(to: max(count, 64))
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
