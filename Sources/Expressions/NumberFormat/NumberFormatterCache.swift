// SPDX-License-Identifier: MIT

/// The formats that one evaluation has used. Making one takes about a hundred microseconds.
struct NumberFormatterCache {
    struct Key: Hashable {
        /// The language tag by its bytes; empty for the default.
        let locale: [UInt8]
        let style: NumberStyle
        let least: Double?
        let most: Double?
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
