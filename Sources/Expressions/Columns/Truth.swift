// SPDX-License-Identifier: MIT

/// The outcomes of a condition.
enum Truth {
    static let no: UInt8 = 0
    static let yes: UInt8 = 1
    static let error: UInt8 = 2
}
