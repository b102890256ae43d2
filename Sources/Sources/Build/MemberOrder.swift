// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

/// What stands before rows' values by their place, as the last rows had it: most features of a source have the same
/// members in the same order and the same manner, and a comparison of some words then finds a member, tells its
/// column, and where its value starts.
///
/// Invariant: `known` leads to room for `most` members, of which the first `count` are written, and `bytes` to room
/// for `mostBytes`, of which the first `byteCount` are; a known member's text lies within these.
package final class MemberOrder {
    private struct Known {
        /// From the end of the value before, or the object's brace, up to the value.
        var start: Int
        var count: Int
        var column: Int
        /// The first sixteen bytes, and which of them there are.
        var words: (UInt64, UInt64)
        var masks: (UInt64, UInt64)
    }

    private let known = UnsafeMutablePointer<Known>.allocate(capacity: MemberOrder.most)
    private let bytes = UnsafeMutableRawPointer.allocate(byteCount: MemberOrder.mostBytes, alignment: 8)
    @exclusivity(unchecked) private var count = 0
    private var byteCount = 0
    /// Members past these are looked up each time.
    private static let most = 64
    /// Longer ones are looked up each time.
    private static let longest = 256
    /// Bytes of leads, those given up included; then it starts again.
    private static let mostBytes = 1 << 16

    deinit {
        known.deallocate()
        bytes.deallocate()
    }

    /// How much text stands before a member's value, and the column that the value fills; nil where either is other
    /// than the last time.
    ///
    /// - Parameter text: the object's, from where the member before ended.
    @inline(__always) package func member(
        _ member: Int, in text: UnsafeRawBufferPointer
    ) -> (lead: Int, column: Int)? {
        guard member < count else { return nil }
        let last = known[member]
        // A value follows, of a character at least, and the object's brace.
        guard last.count < text.count, let asked = text.baseAddress else { return nil }
        if last.count <= 16, text.count >= 16 {
            // Most leads are so short; without a loop there is no end of it to guess.
            let first = asked.loadUnaligned(as: UInt64.self) ^ last.words.0
            let second = asked.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ last.words.1
            guard first & last.masks.0 | second & last.masks.1 == 0 else { return nil }
        } else if !TextWords.areEqual(bytes + last.start, asked, last.count) {
            return nil
        }
        return text[last.count] > UInt8(ascii: " ") ? (last.count, last.column) : nil
    }

    /// - Parameter lead: what stands between the value before and this one.
    package func learn(_ lead: UnsafeRawBufferPointer, _ column: Int, at place: Int) {
        guard place <= count, place < Self.most, lead.count <= Self.longest else { return }
        if byteCount + lead.count > Self.mostBytes {
            (byteCount, count) = (0, 0)
            guard place == 0 else { return }
        }
        var words: (UInt64, UInt64) = (0, 0)
        var masks: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: lead.prefix(16)) }
        withUnsafeMutableBytes(of: &masks) { for place in 0..<min(16, lead.count) { $0[place] = .max } }
        known[place] = Known(
            start: byteCount, count: lead.count, column: column, words: words, masks: masks)
        if let start = lead.baseAddress {
            (bytes + byteCount).copyMemory(from: start, byteCount: lead.count)
        }
        byteCount += lead.count
        count = max(count, place + 1)
    }
}
