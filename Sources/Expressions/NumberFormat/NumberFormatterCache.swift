// SPDX-License-Identifier: MIT

/// The formats that one evaluation has used. Making one takes about a hundred microseconds.
struct NumberFormatterCache {
    struct Key: Hashable {
        /// The language tag's bytes; nil for the default.
        var locale: [UInt8]?
        var style = NumberStyle.decimal
        /// The fewest decimals.
        var least: Double?
        /// The most decimals.
        var most: Double?
    }

    /// More than these are made again when they are needed again.
    private static let capacity = 32
    private var formatters: [Key: NumberFormatter] = [:]

    subscript(key: Key) -> NumberFormatter? {
        get { formatters[key] }
        set {
            if formatters.count >= Self.capacity { formatters.removeAll() }
            formatters[key] = newValue
        }
    }
}
