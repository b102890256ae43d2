// SPDX-License-Identifier: MIT

/// Keys by the time at which they were last added. Each change takes O(1) on average, and the memory is that of the keys
/// that are held, however often they are added.
struct AgeOrder<Key: Hashable> {
    /// The number that each key was last added with.
    private var numbers: [Key: UInt64] = [:]
    /// Keys in the order in which they were added. An entry counts if the key still has its number.
    private var queue: [(key: Key, number: UInt64)] = []
    private var first = 0
    private var last: UInt64 = 0

    /// How many more entries than twice the keys there may be.
    private static var slack: Int { 1024 }

    /// How many keys are held.
    var count: Int { numbers.count }
    /// How many entries are held for them.
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
