// SPDX-License-Identifier: MIT
import JSON

/// What stands before rows' values by their place, as the last rows had it: most features of a source have the same
/// members in the same order and the same manner, and a comparison of some words then finds a member, tells its
/// column, and where its value starts.
struct MemberOrder {
    private struct Known {
        /// From the end of the value before, or the object's brace, up to the value.
        var start: Int
        var count: Int
        var column: Int
    }

    private var known: [Known] = []
    private var bytes: [UInt8] = []
    /// Members past these are looked up each time.
    private static let most = 64
    /// Longer ones are looked up each time.
    private static let longest = 256
    /// Bytes of names, those given up included, after which it starts anew.
    private static let mostBytes = 1 << 16

    /// How much text stands before a member's value, and the column that the value fills; nil where either is other
    /// than the last time.
    ///
    /// - Parameter text: the object's, from where the member before ended.
    @inline(__always) func member(
        _ member: Int, in text: UnsafeRawBufferPointer
    ) -> (lead: Int, column: Int)? {
        guard member < known.count else { return nil }
        let last = known[member]
        // A value follows, of a character at least, and the object's brace.
        guard last.count < text.count, let asked = text.baseAddress else { return nil }
        let isSame = bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { TextWords.areEqual($0 + last.start, asked, last.count) } ?? false
        }
        return isSame && text[last.count] > UInt8(ascii: " ") ? (last.count, last.column) : nil
    }

    /// - Parameter lead: what stands between the value before and this one.
    mutating func learn(_ lead: UnsafeRawBufferPointer, _ column: Int, at place: Int) {
        guard place <= known.count, place < Self.most, lead.count <= Self.longest else { return }
        if bytes.count > Self.mostBytes {
            bytes.removeAll(keepingCapacity: true)
            known.removeAll(keepingCapacity: true)
            guard place == 0 else { return }
        }
        let member = Known(start: bytes.count, count: lead.count, column: column)
        bytes.append(contentsOf: lead)
        if place < known.count { known[place] = member } else { known.append(member) }
    }
}
