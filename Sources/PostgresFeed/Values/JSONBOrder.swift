// SPDX-License-Identifier: MIT

/// The order of an object's keys in jsonb: shorter keys first, then by bytes.
enum JSONBOrder {
    static func precedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count ? first.lexicographicallyPrecedes(second) : first.count < second.count
    }
}
