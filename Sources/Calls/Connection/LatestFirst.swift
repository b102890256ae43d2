// SPDX-License-Identifier: MIT

/// Values by call id. The most recently set value is found without hashing, because most calls are answered
/// before the next one arrives.
package struct LatestFirst<Value> {
    private var latest: (id: Int64, value: Value)?
    /// All values but the latest.
    private var earlier: [Int64: Value] = [:]

    package var count: Int { earlier.count + (latest == nil ? 0 : 1) }

    /// Setting nil removes the value. Amortised O(1).
    package subscript(id: Int64) -> Value? {
        get {
            if let latest, latest.id == id { return latest.value }
            return earlier.isEmpty ? nil : earlier[id]
        }
        set {
            if !earlier.isEmpty { earlier[id] = nil }
            if let newValue {
                if let latest, latest.id != id { earlier[latest.id] = latest.value }
                latest = (id, newValue)
            } else if let found = latest, found.id == id {
                latest = nil
            }
        }
    }

    /// All values, in no particular order.
    package var all: [(id: Int64, value: Value)] {
        earlier.map { ($0.key, $0.value) } + (latest.map { [$0] } ?? [])
    }
}
