// SPDX-License-Identifier: MIT
import CPrefetch

/// An immutable array of trivial values, in its own memory or in a file's image, which `owner` keeps alive.
///
/// Invariant: `base` points to `count` initialised values that nobody writes during the column's lifetime.
/// Because they are never written, the column may be `Sendable`. Of a damaged image they are any mixture of
/// values and zeros (see `IndexMemory`): a reader must end, and read inside the columns, whatever it sees.
struct Column<Element: BitwiseCopyable>: @unchecked Sendable {
    let base: UnsafePointer<Element>
    let count: Int
    let owner: AnyObject?

    init(base: UnsafePointer<Element>, count: Int, owner: AnyObject?) {
        (self.base, self.count, self.owner) = (base, count, owner)
    }

    /// Borrows values that `owner` keeps valid and unchanged.
    init(_ values: UnsafeBufferPointer<Element>, owner: AnyObject) {
        guard let base = values.baseAddress else {
            self = Scratch<Element>(capacity: 1).finish(count: 0)
            return
        }
        self.init(base: base, count: values.count, owner: owner)
    }

    /// - Precondition: `0 <= index < count`, which the index's own invariants guarantee; checked in debug builds.
    @inline(__always) subscript(index: Int) -> Element {
        assert(index >= 0 && index < count)
        return base[index]
    }

    /// The value at an index that was computed from several values, which may contradict each other if some
    /// of them are zeros of a damaged image. Another value if there is none at the index.
    ///
    /// - Precondition: the column is not empty.
    @inline(__always) subscript(within index: Int) -> Element {
        assert(count > 0)
        return base[UInt(bitPattern: index) < UInt(bitPattern: count) ? index : 0]
    }

    /// Fetches the memory of a value, if there is one at the index.
    @inline(__always) func fetch(_ index: Int) { if index < count { clusterd_prefetch(base + index) } }

    func address(_ index: Int) -> UnsafeRawPointer { UnsafeRawPointer(base + index) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(UnsafeBufferPointer(start: base, count: count)) }

    /// Some of the values.
    func part(_ range: Range<Int>) -> Column {
        Column(base: base + range.lowerBound, count: range.count, owner: owner)
    }

    /// What the values take in the column's own memory, or in the image.
    var memoryBytes: Int { (owner as? MallocOwner)?.room ?? bytes.count }
}

/// Memory in which an index's columns lie and that others own, such as a file's image.
///
/// A column reads what was written, or, once `isDamaged` is true, any mixture of that and zeros.
public protocol IndexMemory: AnyObject, Sendable {
    /// Whether a part could not be read. Never becomes false again.
    var isDamaged: Bool { get }
    /// Whether reading the index does not wait for a disk.
    var isResident: Bool { get }
    /// Whether parts are taken from memory when that is short. If not, the index counts them as its own.
    var isEvictable: Bool { get }
    /// Lets the pages of some addresses in it be read from the disk side by side, because all are read next.
    func willRead(_ addresses: [UnsafeRawPointer])
}

extension IndexMemory {
    public func willRead(_ addresses: [UnsafeRawPointer]) {}
}
