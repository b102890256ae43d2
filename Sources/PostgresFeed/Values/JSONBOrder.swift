// SPDX-License-Identifier: MIT

/// The order in which jsonb keeps an object's keys: shorter ones first, then by bytes.
enum JSONBOrder {
    static func precedes(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count ? first.lexicographicallyPrecedes(second) : first.count < second.count
    }
}
