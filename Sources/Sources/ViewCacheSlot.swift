// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import Synchronization
import SystemSupport

/// What a layer above caches for a view during the view's life.
package protocol ViewCache: AnyObject, Sendable {
    /// Bytes of memory held.
    var memoryBytes: Int { get }
}

/// Holds the cache of the layer above, whose type this module does not know. Safe from any thread.
package final class ViewCacheSlot: Sendable {
    private let cache = Mutex<(any ViewCache)?>(nil)

    package init() {}

    /// The cache, made on first use.
    package func value<Cache: ViewCache>(make: () -> Cache) -> Cache {
        cache.withLock { cache in
            if let known = cache as? Cache { return known }
            let made = make()
            cache = made
            return made
        }
    }

    package var memoryBytes: Int { cache.withLock { $0?.memoryBytes ?? 0 } }
}
