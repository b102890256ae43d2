// SPDX-License-Identifier: MIT
import Synchronization

/// A flag for each page of an image, which any thread may read without a lock: a loop's thread must not wait for a thread of
/// lower priority that fills pages with the lock held.
///
/// Invariant: `flags` has `count` values, which are initialized until `deinit`.
final class PageFlags: @unchecked Sendable {
    private let flags: UnsafeMutablePointer<Atomic<Bool>>
    private let count: Int

    /// All flags are lowered.
    init(count: Int) {
        self.count = count
        flags = .allocate(capacity: max(1, count))
        for page in 0..<count { (flags + page).initialize(to: Atomic(false)) }
    }

    deinit {
        flags.deinitialize(count: count)
        flags.deallocate()
    }

    /// - Precondition: `page` is below the number of flags.
    subscript(page: Int) -> Bool {
        get {
            precondition(page >= 0 && page < count)
            return flags[page].load(ordering: .acquiring)
        }
        set {
            precondition(page >= 0 && page < count)
            flags[page].store(newValue, ordering: .releasing)
        }
    }
}
