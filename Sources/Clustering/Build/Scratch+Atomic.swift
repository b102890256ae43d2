// SPDX-License-Identifier: MIT
import Synchronization

/// Access to values that several threads read and write concurrently.
extension Scratch where Element: AtomicRepresentable {
    /// The value at an index as an atomic: both have the same layout.
    @inline(__always) func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<Element>> {
        UnsafeMutableRawPointer(base + index).assumingMemoryBound(to: Atomic<Element>.self)
    }
}
