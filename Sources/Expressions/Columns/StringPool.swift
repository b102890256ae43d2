// SPDX-License-Identifier: MIT
import Glibc

/// Different strings, each once, numbered from 0 in the order in which they came.
struct StringPool: Sendable {
    private var bytes: [UInt8] = []
    /// Where each string starts, and where the last ends.
    private var starts: [Int] = [0]
    /// Codes plus one by hash, 0 where free; a power of two, at most half full.
    private var slots: [UInt32] = Array(repeating: 0, count: 16)

    var count: Int { starts.count - 1 }

    var memoryBytes: Int {
        bytes.count + starts.count * MemoryLayout<Int>.stride + slots.count * MemoryLayout<UInt32>.stride
    }

    subscript(code: Int) -> String {
        String(decoding: bytes[starts[code]..<starts[code + 1]], as: UTF8.self)
    }

    /// The code of a string, which is added where it is new.
    mutating func code(adding text: UnsafeRawBufferPointer) -> Int {
        let slot = slot(of: text)
        if slots[slot] != 0 { return Int(slots[slot]) - 1 }
        bytes.append(contentsOf: text)
        starts.append(bytes.count)
        slots[slot] = UInt32(truncatingIfNeeded: count)
        if count * 2 > slots.count { grow() }
        return count - 1
    }

    /// The code of a string; nil where there is none.
    func code(of text: String) -> Int? {
        var text = text
        return text.withUTF8 { text in
            let code = slots[slot(of: UnsafeRawBufferPointer(text))]
            return code == 0 ? nil : Int(code) - 1
        }
    }

    private func slot(of text: UnsafeRawBufferPointer) -> Int {
        var slot = Int(truncatingIfNeeded: Self.hash(text)) & (slots.count - 1)
        while slots[slot] != 0, !isSame(Int(slots[slot]) - 1, text) { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private func isSame(_ code: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        let (start, end) = (starts[code], starts[code + 1])
        guard end - start == text.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let known = bytes.baseAddress, let asked = text.baseAddress else { return true }
            return memcmp(known + start, asked, text.count) == 0
        }
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: 0, count: old.count * 2)
        for code in old where code != 0 {
            let (start, end) = (starts[Int(code) - 1], starts[Int(code)])
            var place = bytes[start..<end].withUnsafeBytes { Int(truncatingIfNeeded: Self.hash($0)) }
            place &= slots.count - 1
            while slots[place] != 0 { place = (place + 1) & (slots.count - 1) }
            slots[place] = code
        }
    }

    private static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash ^ (hash >> 29)
    }
}
