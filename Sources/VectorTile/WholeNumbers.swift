// SPDX-License-Identifier: MIT

/// The values of a layer that are integers, found by the number before it is written as a field.
///
/// The hash has a random seed in each process: a sender cannot prepare collisions.
struct WholeNumbers: ~Copyable {
    struct Slot: BitwiseCopyable {
        var number: Int64
        /// The value's number plus one; 0 if the slot is free.
        var value: UInt32
    }

    /// A table with open addressing; at most half of the slots are taken.
    private var slots = TrivialArray<Slot>(capacity: Self.smallest)
    private var count = 0

    private let seed = Self.seedOfProcess
    private static let seedOfProcess = UInt64.random(in: .min ... .max)
    private static let smallest = 256
    private static let free = Slot(number: 0, value: 0)

    init() { slots.fill(Self.free, count: Self.smallest) }

    mutating func removeAll() {
        if count > 0 { slots.fill(Self.free, count: slots.count) }
        count = 0
    }

    /// The number of the value that equals a number, if there is one.
    ///
    /// - Returns: the value's number, else the slot for `add`.
    @inline(__always) func find(_ number: Int64) -> (value: UInt32?, slot: Int) {
        let mask = slots.count &- 1
        var offset = Int(truncatingIfNeeded: hash(number)) & mask
        while true {
            let slot = slots[offset]
            if slot.value == 0 { return (nil, offset) }
            if slot.number == number { return (slot.value &- 1, offset) }
            offset = (offset &+ 1) & mask
        }
    }

    /// Adds a number's value in the slot that `find` returned.
    @inline(__always) mutating func add(_ number: Int64, as value: UInt32, in slot: Int) {
        slots[slot] = Slot(number: number, value: value &+ 1)
        count &+= 1
        if count &* 2 > slots.count { widen() }
    }

    @inline(__always) private func hash(_ number: Int64) -> UInt64 {
        let product = (UInt64(bitPattern: number) ^ seed).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    @inline(never) private mutating func widen() {
        var wider = TrivialArray<Slot>(capacity: slots.count * 2)
        wider.fill(Self.free, count: slots.count * 2)
        swap(&slots, &wider)
        for offset in 0..<wider.count where wider[offset].value != 0 {
            slots[find(wider[offset].number).slot] = wider[offset]
        }
    }
}
