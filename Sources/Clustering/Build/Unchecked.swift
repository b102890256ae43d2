// SPDX-License-Identifier: MIT

/// Carries a value into work that runs at the same time on disjoint parts of what it leads to.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
