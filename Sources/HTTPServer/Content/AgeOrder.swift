// SPDX-License-Identifier: MIT

/// Keys in the order in which they were last added. Each change is amortised O(1), and the memory is proportional
/// to the number of keys, however often they are added.
struct AgeOrder<Key: Hashable> {
    /// The number with which each key was last added.
    private var numbers: [Key: UInt64] = [:]
    /// Keys in the order of addition. An entry counts if its key still has its number.
    private var queue: [(key: Key, number: UInt64)] = []
    private var first = 0
    private var last: UInt64 = 0

    /// How many entries there may be in addition to twice the number of keys.
    private static var slack: Int { 1024 }

    /// The number of keys.
    var count: Int { numbers.count }
    /// The number of entries for them.
    var entries: Int { queue.count }

    /// Makes a key the youngest.
    mutating func add(_ key: Key) {
        last += 1
        numbers[key] = last
        queue.append((key, last))
        if queue.count > 2 * numbers.count + Self.slack { removeStale() }
    }

    /// Removes the oldest key and returns it; nil if there is none.
    mutating func takeOldest() -> Key? {
        while first < queue.count {
            let (key, number) = queue[first]
            first += 1
            guard numbers[key] == number else { continue }
            numbers[key] = nil
            return key
        }
        return nil
    }

    private mutating func removeStale() {
        queue = queue[first...].filter { numbers[$0.key] == $0.number }
        first = 0
    }
}
