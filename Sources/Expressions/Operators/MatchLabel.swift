// SPDX-License-Identifier: MIT
import JSON

/// A label of `match`. Strings are compared by their bytes.
enum MatchLabel: Sendable, Hashable {
    case number(Double)
    case string([UInt8])

    init?(_ value: JSONValue) {
        switch value {
        case .number(let number): self = .number(number)
        case .string(let text): self = .string(Array(text.utf8))
        default: return nil
        }
    }
}
