// SPDX-License-Identifier: MIT
import JSON

/// Distinct strings, numbered from 0 in the order in which they were added.
///
/// The hash has a random seed in each process: a sender cannot prepare collisions.
struct StringPool: Sendable {
    private var bytes: [UInt8] = []
    /// The offset at which each string starts, and the end of the last one.
    private var starts: [Int] = [0]
    /// By hash, the upper half of it above a code plus one; 0 is a free slot. So nearly all other strings are passed
    /// over without reading them. The number of slots is a power of two, and at most half of them are used.
    private var slots: [UInt64] = Array(repeating: 0, count: 16)
    private let seed = LentBytes.seed

    var count: Int { starts.count - 1 }

    var memoryBytes: Int {
        bytes.count + starts.count * MemoryLayout<Int>.stride + slots.count * MemoryLayout<UInt64>.stride
    }

    subscript(code: Int) -> String {
        String(decoding: bytes[starts[code]..<starts[code + 1]], as: UTF8.self)
    }

    /// Calls `body` with a string's bytes.
    func withText<Result>(_ code: Int, _ body: (LentBytes) -> Result) -> Result {
        bytes.lend { body($0.part(starts[code]..<starts[code + 1])) }
    }

    /// The code of a string, which is added if it is new.
    mutating func code(adding text: LentBytes) -> Int {
        let hash = text.hash(seed: seed)
        let slot = slot(of: text, hash)
        if slots[slot] != 0 { return Self.code(slots[slot]) }
        bytes.append(contentsOf: text)
        starts.append(bytes.count)
        slots[slot] = Self.tag(hash) | UInt64(truncatingIfNeeded: count)
        if count * 2 > slots.count { grow() }
        return count - 1
    }

    /// The code of a string; nil if it is not in the pool.
    func code(of text: String) -> Int? {
        text.lendUTF8 { text in
            let entry = slots[slot(of: text, text.hash(seed: seed))]
            return entry == 0 ? nil : Self.code(entry)
        }
    }

    private static func tag(_ hash: UInt64) -> UInt64 { hash & 0xffff_ffff_0000_0000 }

    private static func code(_ entry: UInt64) -> Int { Int(UInt32(truncatingIfNeeded: entry)) - 1 }

    /// The slot of a string, or the free one for it.
    private func slot(of text: LentBytes, _ hash: UInt64) -> Int {
        let (tag, last) = (Self.tag(hash), slots.count - 1)
        var slot = Self.first(hash, last)
        while slots[slot] != 0 {
            if Self.tag(slots[slot]) == tag, isSame(Self.code(slots[slot]), text) { break }
            slot = (slot + 1) & last
        }
        return slot
    }

    /// The slot where the search for a hash begins: by its upper half, which a slot has too.
    private static func first(_ hash: UInt64, _ last: Int) -> Int {
        Int(truncatingIfNeeded: hash >> 32) & last
    }

    private func isSame(_ code: Int, _ text: LentBytes) -> Bool {
        starts[code + 1] - starts[code] == text.count && withText(code) { $0.isSame(as: text) }
    }

    private mutating func grow() {
        let old = slots
        let last = old.count * 2 - 1
        slots = Array(repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 {
            var slot = Self.first(entry, last)
            while slots[slot] != 0 { slot = (slot + 1) & last }
            slots[slot] = entry
        }
    }
}
