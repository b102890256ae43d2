// SPDX-License-Identifier: MIT

/// Carries a value, such as a pointer, into work that several threads do at the same time.
///
/// `@unchecked Sendable` holds because each thread writes a part of its own, and nobody reads a part that another thread
/// writes before all have ended. Each use keeps to that.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
