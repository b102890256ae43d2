// SPDX-License-Identifier: MIT

/// A slot of a `NumberTable`.
struct NumberSlot: BitwiseCopyable, Sendable {
    /// `UInt32.max` if the slot is empty.
    var key: UInt32
    var value: UInt32
}

/// The slots of a `NumberTable`.
protocol NumberSlots: Sendable {
    init()
    init(repeating slot: NumberSlot, count: Int)
    var count: Int { get }
    subscript(index: Int) -> NumberSlot { get set }
}

extension Array: NumberSlots where Element == NumberSlot {}
extension PagedArray: NumberSlots where Element == NumberSlot {}

/// A map from 32-bit numbers to 32-bit numbers, in one block of memory.
typealias NumberMap = NumberTable<[NumberSlot]>
/// A map whose copies share memory that neither has written.
typealias PagedNumberMap = NumberTable<PagedArray<NumberSlot>>

/// A map from 32-bit numbers to 32-bit numbers: open addressing with linear probing.
///
/// Keys are below `UInt32.max`, which marks an empty slot. Entries are overwritten, never removed.
struct NumberTable<Slots: NumberSlots>: Sendable {
    private static var empty: UInt32 { .max }
    private var slots = Slots()
    private var shift: UInt32 = 0
    private(set) var count = 0

    init() {}

    /// A table with room for `count` numbers before it grows.
    init(capacity: Int) {
        guard capacity > 0 else { return }
        var size = 16
        while size < (capacity + 1) * 2 { size *= 2 }
        resize(to: size)
    }

    var memoryBytes: Int { slots.count * MemoryLayout<NumberSlot>.stride }

    @inline(__always) subscript(key: UInt32) -> UInt32? {
        guard count > 0 else { return nil }
        let slot = slots[index(of: key)]
        return slot.key == key ? slot.value : nil
    }

    mutating func set(_ key: UInt32, _ value: UInt32) {
        if (count + 1) * 2 > slots.count { grow() }
        let index = index(of: key)
        if slots[index].key != key { count += 1 }
        slots[index] = NumberSlot(key: key, value: value)
    }

    /// Calls `body` with every key and its value, in no particular order.
    func forEach(_ body: (_ key: UInt32, _ value: UInt32) -> Void) {
        for index in 0..<slots.count where slots[index].key != Self.empty {
            body(slots[index].key, slots[index].value)
        }
    }

    /// All keys with their values, in no particular order.
    var entries: [NumberSlot] {
        (0..<slots.count).lazy.map { slots[$0] }.filter { $0.key != Self.empty }
    }

    /// The slot of a key, or the empty slot for it. There always is one, because at least half of the slots are empty.
    @inline(__always) private func index(of key: UInt32) -> Int {
        var index = firstIndex(of: key)
        while true {
            let found = slots[index].key
            if found == key || found == Self.empty { return index }
            index = (index + 1) & (slots.count - 1)
        }
    }

    @inline(__always) private func firstIndex(of key: UInt32) -> Int {
        // Multiplicative hashing (Knuth, volume 3, 6.4).
        Int((key &* 0x9e37_79b9) >> shift)
    }

    private mutating func grow() {
        let old = slots
        resize(to: max(16, slots.count * 2))
        for index in 0..<old.count where old[index].key != Self.empty {
            slots[self.index(of: old[index].key)] = old[index]
        }
    }

    private mutating func resize(to size: Int) {
        slots = Slots(repeating: NumberSlot(key: Self.empty, value: 0), count: size)
        shift = 32 - UInt32(size.trailingZeroBitCount)
    }
}

extension PagedNumberMap {
    /// Fetches the memory in which a key is looked for first.
    @inline(__always) func fetch(_ key: UInt32) {
        if slots.count > 0 { slots.fetch(firstIndex(of: key)) }
    }
}
