// SPDX-License-Identifier: MIT
import JSON

/// The text that preceded each value in the last rows, by position. Most features of a source have the same
/// members in the same order and with the same spacing. Comparing a few words then finds a member, its
/// column, and the start of its value.
///
/// Invariant: `known` has capacity for `most` members, of which the first `count` are initialized. `bytes` has capacity
/// for `mostBytes`, of which the first `byteCount` are initialized. A known member's text lies within these.
package final class MemberOrder {
    private struct Known {
        /// The offset of the text from the end of the previous value, or the object's brace, up to the value.
        var start: Int
        var count: Int
        var column: Int
        /// The first sixteen bytes, with a mask of those that exist.
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
    /// The capacity for texts in bytes, including replaced ones. When it is full, learning starts over.
    private static let mostBytes = 1 << 16

    deinit {
        known.deallocate()
        bytes.deallocate()
    }

    /// The length of the text before a member's value, and the value's column; nil if either differs from
    /// the last row.
    ///
    /// - Parameter text: the rest of the object after the previous member.
    @inline(__always) package func member(
        _ member: Int, in text: UnsafeRawBufferPointer
    ) -> (lead: Int, column: Int)? {
        guard member < count else { return nil }
        let last = known[member]
        // At least one character of a value and the object's brace follow.
        guard last.count < text.count, let asked = text.baseAddress else { return nil }
        if last.count <= 16, text.count >= 16 {
            // Most texts are this short. Without a loop the processor has no loop end to mispredict.
            let first = asked.loadUnaligned(as: UInt64.self) ^ last.words.0
            let second = asked.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ last.words.1
            guard first & last.masks.0 | second & last.masks.1 == 0 else { return nil }
        } else if !TextWords.areEqual(bytes + last.start, asked, last.count) {
            return nil
        }
        return text[last.count] > UInt8(ascii: " ") ? (last.count, last.column) : nil
    }

    /// - Parameter lead: the text between the previous value and this one.
    package func learn(_ lead: UnsafeRawBufferPointer, _ column: Int, at index: Int) {
        guard index <= count, index < Self.most, lead.count <= Self.longest else { return }
        if byteCount + lead.count > Self.mostBytes {
            (byteCount, count) = (0, 0)
            guard index == 0 else { return }
        }
        var words: (UInt64, UInt64) = (0, 0)
        var masks: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: lead.prefix(16)) }
        withUnsafeMutableBytes(of: &masks) { for index in 0..<min(16, lead.count) { $0[index] = .max } }
        known[index] = Known(
            start: byteCount, count: lead.count, column: column, words: words, masks: masks)
        if let start = lead.baseAddress {
            (bytes + byteCount).copyMemory(from: start, byteCount: lead.count)
        }
        byteCount += lead.count
        count = max(count, index + 1)
    }
}
