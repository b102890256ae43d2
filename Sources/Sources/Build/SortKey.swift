// SPDX-License-Identifier: MIT
import JSON

/// A feature's key in the order of the option `sortKey`: numbers by value, then strings by their UTF-8 bytes,
/// then everything else.
package enum SortKey: Comparable, Sendable {
    case number(Double)
    case text([UInt8])
    case none

    package init(_ value: JSONValue) {
        switch value {
        // Negative zero equals zero.
        case .number(let number) where !number.isNaN: self = .number(number == 0 ? 0 : number)
        case .string(let text): self = .text(Array(text.utf8))
        default: self = .none
        }
    }

    /// Numbers sort before strings, and strings before everything else.
    var rank: Int {
        switch self {
        case .number: 0
        case .text: 1
        case .none: 2
        }
    }

    package static func < (a: SortKey, b: SortKey) -> Bool {
        switch (a, b) {
        case (.number(let a), .number(let b)): a < b
        case (.text(let a), .text(let b)): a.lexicographicallyPrecedes(b)
        default: a.rank < b.rank
        }
    }

    /// A number that orders keys of one rank as far as 8 bytes can: equal for equal numbers, and for strings that
    /// begin with the same 8 bytes.
    var prefix: UInt64 {
        switch self {
        case .number(let number):
            let bits = number.bitPattern
            return bits >> 63 == 1 ? ~bits : bits | 1 << 63
        case .text(let bytes):
            return (0..<8).reduce(UInt64(0)) { $0 << 8 | ($1 < bytes.count ? UInt64(bytes[$1]) : 0) }
        case .none: return 0
        }
    }
}
