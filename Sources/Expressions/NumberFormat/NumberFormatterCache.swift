// SPDX-License-Identifier: MIT

/// The formats that one evaluation has used. Making one takes about a hundred microseconds.
struct NumberFormatterCache {
    struct Key: Hashable {
        /// The language tag's bytes; nil for the default.
        var locale: [UInt8]?
        var style = NumberStyle.decimal
        /// The minimum number of decimals.
        var least: Double?
        /// The maximum number of decimals.
        var most: Double?
    }

    /// The maximum number of cached formats; others are made again when needed.
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
