// SPDX-License-Identifier: MIT
import Synchronization

/// All sources of a daemon, by name.
///
/// Safe from any thread; every call takes a lock for as long as a dictionary look-up takes.
public final class SourceRegistry: Sendable {
    private let sources = Mutex<[SourceName: Source]>([:])
    private let shared: SharedState

    public init(limits: SourceLimits) {
        shared = SharedState(limits: limits)
        shared.memory.count { [weak self] in self.map { $0.sources.withLock { Array($0.values) } } ?? [] }
    }

    /// What the sources may hold.
    public var memory: MemoryBudget { shared.memory }

    /// Adds a source without data, or throws `sourceExists`, or `tooLarge` where its owner has too many.
    ///
    /// - Parameter owner: the user whose limits the source counts for; nil: nobody's.
    public func create(
        _ name: SourceName, options: SourceOptions, owner: UInt32? = nil
    ) throws(SourceError) -> Source {
        let source = try Source(name: name, options: options, owner: owner, shared: shared)
        let most = shared.memory.limit.sourcesPerOwner
        let refusal = sources.withLock { sources -> SourceError? in
            guard sources[name] == nil else { return .sourceExists(name) }
            if let owner, most > 0, sources.values.count(where: { $0.owner == owner }) >= most {
                return .tooLarge(
                    "user \(owner) has \(most) sources, as many as one user may have (limits.maxSourcesPerUser); delete some"
                )
            }
            sources[name] = source
            return nil
        }
        if let refusal { throw refusal }
        return source
    }

    /// The source of this name, or throws `sourceNotFound`.
    public func source(_ name: SourceName) throws(SourceError) -> Source {
        guard let source = sources.withLock({ $0[name] }) else { throw .sourceNotFound(name) }
        return source
    }

    /// Takes a source out. Queries under way answer from the data they began with; changes under way fail.
    ///
    /// Freeing a large source takes some milliseconds.
    public func delete(_ name: SourceName) throws(SourceError) {
        guard let source = sources.withLock({ $0.removeValue(forKey: name) }) else {
            throw .sourceNotFound(name)
        }
        source.retire()
        _ = consume source
        MemoryTrim.run()
    }

    /// All sources, by name.
    public var all: [Source] {
        sources.withLock { Array($0.values) }.sorted { $0.name < $1.name }
    }

    /// How many updates of single features only looked at what they changed, and how many had to cluster a
    /// whole source anew; over all sources.
    public var updateCounts: (followed: Int, rebuilt: Int) { shared.updates.values }

    /// Bytes that the cached indexes of filtered features hold, over all sources.
    public var filterCacheBytes: Int { shared.filteredViews.bytes }
}
