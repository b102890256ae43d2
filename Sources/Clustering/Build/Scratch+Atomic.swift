// SPDX-License-Identifier: MIT
import Synchronization

/// Values that several threads read and write at the same time.
extension Scratch where Element: AtomicRepresentable {
    /// The value at an index, as an atomic one: the two have the same layout.
    @inline(__always) func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<Element>> {
        UnsafeMutableRawPointer(base + index).assumingMemoryBound(to: Atomic<Element>.self)
    }
}
