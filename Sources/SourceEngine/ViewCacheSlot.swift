// SPDX-License-Identifier: MIT
import Synchronization

/// What a layer above caches for a view during the view's life. Subclasses are safe from any thread.
open class ViewCache: @unchecked Sendable {
    public init() {}

    /// Bytes of memory held.
    open var memoryBytes: Int { 0 }
}

/// Holds the cache of the layer above, whose type this module does not know. Reading it takes no lock. Safe from any
/// thread.
///
/// Invariant: once set, the reference does not change, and it retains its object until this slot is destroyed.
package final class ViewCacheSlot: Sendable {
    private let cache = Atomic<Unmanaged<ViewCache>?>(nil)

    package init() {}

    deinit { cache.load(ordering: .acquiring)?.release() }

    /// The cache; nil until one is kept.
    package var value: ViewCache? { cache.load(ordering: .acquiring)?.takeUnretainedValue() }

    /// Keeps a cache unless there is one already. Returns the one that is kept.
    package func keep(_ made: ViewCache) -> ViewCache {
        let reference = Unmanaged.passRetained(made)
        let known = cache.compareExchange(
            expected: nil, desired: reference, ordering: .acquiringAndReleasing
        ).original
        guard let known else { return made }
        reference.release()
        return known.takeUnretainedValue()
    }

    package var memoryBytes: Int { value?.memoryBytes ?? 0 }
}
