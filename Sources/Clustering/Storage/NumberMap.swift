// SPDX-License-Identifier: MIT

/// A map from 32-bit numbers to 32-bit numbers that copies as one block: open addressing with linear probing.
///
/// Keys are below `UInt32.max`, which marks an empty place. Nothing is ever taken out, only overwritten.
struct NumberMap: Sendable {
    private struct Slot: BitwiseCopyable {
        var key: UInt32
        var value: UInt32
    }

    private static let empty = UInt32.max
    private var slots: [Slot] = []
    private var shift: UInt32 = 0
    private(set) var count = 0

    var memoryBytes: Int { slots.count * MemoryLayout<Slot>.stride }

    @inline(__always) subscript(key: UInt32) -> UInt32? {
        guard count > 0 else { return nil }
        let place = place(of: key)
        return slots[place].key == key ? slots[place].value : nil
    }

    mutating func set(_ key: UInt32, _ value: UInt32) {
        if (count + 1) * 2 > slots.count { grow() }
        let place = place(of: key)
        if slots[place].key != key { count += 1 }
        slots[place] = Slot(key: key, value: value)
    }

    /// Every key with its value, in no order.
    func forEach(_ body: (_ key: UInt32, _ value: UInt32) -> Void) {
        for slot in slots where slot.key != Self.empty { body(slot.key, slot.value) }
    }

    /// Where a key is, or the empty place where it belongs: there is always one, as half of them are empty.
    @inline(__always) private func place(of key: UInt32) -> Int {
        // Multiplicative hashing (Knuth, volume 3, 6.4).
        var place = Int((key &* 0x9e37_79b9) >> shift)
        while slots[place].key != key, slots[place].key != Self.empty {
            place = (place + 1) & (slots.count - 1)
        }
        return place
    }

    private mutating func grow() {
        let old = slots
        let size = max(16, slots.count * 2)
        slots = Array(repeating: Slot(key: Self.empty, value: 0), count: size)
        shift = 32 - UInt32(size.trailingZeroBitCount)
        for slot in old where slot.key != Self.empty { slots[place(of: slot.key)] = slot }
    }
}
