// SPDX-License-Identifier: MIT
import CSimdjson
import Glibc

/// Owns a text and its values, for use beyond the scope of a tape.
public final class JSONDocument {
    private let text: [UInt8]
    private let parser = JSONParser()

    public init(_ text: [UInt8], maximumDepth: Int = JSONReader.maximumDepth) throws(JSONError) {
        self.text = text
        var failure: JSONError?
        text.withUnsafeBytes { bytes in
            do throws(JSONError) { _ = try parser.parse(bytes, maximumDepth) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Passes the root value to `body`; it is valid during the call.
    public func withRoot<Result>(_ body: (JSONElement) throws -> Result) rethrows -> Result {
        try text.withUnsafeBytes { bytes in
            try body(JSONTape(text: bytes, entries: parser.lastEntries, hasLoneSurrogates: false).root)
        }
    }
}

/// The values of a text that a `JSONParser` has read; valid only while the parser lends it.
///
/// Invariant: `entries` are a complete tape as written by the shim, and every range in it lies within `text`.
public struct JSONTape {
    let text: UnsafeRawBufferPointer
    let entries: UnsafeBufferPointer<csj_entry>
    /// Whether any string contains a lone surrogate.
    public let hasLoneSurrogates: Bool

    public var root: JSONElement { JSONElement(tape: self, index: 0) }
}

/// Finds an object's members by key while the object is read. A table of places with open addressing: it uses at most 11
/// bytes for each member, because a client chooses how many there are. Hashes are seeded for each process, so nobody can
/// choose keys that collide.
struct MemberIndex {
    /// A member's place plus 1; 0 is a free slot.
    private var slots: [UInt32]

    /// - Parameter capacity: the maximum number of members.
    init(capacity: Int) {
        // A quarter of the slots stays free, and their number is a power of two.
        var count = 32
        while count < capacity + capacity / 3 { count *= 2 }
        slots = [UInt32](repeating: 0, count: count)
    }

    /// The place of the member with a key. If there is none, records that the next member to be appended has it. O(1).
    mutating func place(of key: String, in members: [(key: String, value: JSONValue)]) -> Int? {
        var hasher = Hasher()
        var key = key
        key.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        var slot = hasher.finalize() & (slots.count - 1)
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            if members[place].key.hasSameBytes(as: key) { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = UInt32(truncatingIfNeeded: members.count + 1)
        return nil
    }
}
