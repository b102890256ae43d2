// SPDX-License-Identifier: MIT
import Synchronization
import SystemSupport

/// Carries a value, such as a pointer, into work that several threads do concurrently.
///
/// `@unchecked Sendable` is sound because each thread writes only its own part, and no thread reads a part that
/// another writes before all have ended. Every use must ensure this.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

extension Parallel {
    func stopIfCancelled() throws(ClusteringError) {
        if isCancelled() { throw .cancelled }
    }
}
