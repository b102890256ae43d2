// SPDX-License-Identifier: MIT
import GeoJSON
import ImageStore
import Synchronization
import SystemSupport

/// All sources of a daemon, by name.
///
/// Safe from any thread. Every call holds a lock for one dictionary look-up.
public final class SourceRegistry: Sendable {
    private let sources = Mutex<[SourceName: Source]>([:])
    package let shared: SharedState

    /// Serializes creations and deletions, which wait for the disk.
    private let naming = FairLock()

    /// - Parameters:
    ///   - directory: where sources are stored; nil if they are only in memory.
    ///   - report: called from any thread with events about the sources' files that belong to no call.
    public init(
        limits: SourceLimits, directory: StateDirectory? = nil,
        report: @escaping @Sendable (StateEvent) -> Void = { _ in }
    ) {
        shared = SharedState(limits: limits, directory: directory, report: report)
        shared.memory.count { [weak self] in
            let sources = self?.sources.withLock { Array($0.values) } ?? []
            return sources.map { source in
                let revision = source.revision
                return MemoryBudget.Holding(owner: source.owner, memory: revision.memoryBytes, file: revision.fileBytes)
            }
        }
    }

    /// The budget of the sources' memory.
    public var memory: MemoryBudget { shared.memory }

    /// Adds a source without data. Throws `sourceExists`, or `tooLarge` if its owner has too many.
    ///
    /// - Parameter owner: the user whose limits the source counts towards; nil if none.
    public func create(_ name: SourceName, options: SourceOptions, owner: UInt32? = nil) throws(SourceError) -> Source {
        try naming.withLock(.never) { () throws(SourceError) -> Source in
            if let refusal = sources.withLock({ refusal(name, owner, $0) }) { throw refusal }
            let source = try empty(name, options: options, owner: owner)
            sources.withLock { $0[name] = source }
            return source
        }
    }

    /// A source without data, with its files if sources are stored.
    private func empty(_ name: SourceName, options: SourceOptions, owner: UInt32?) throws(SourceError) -> Source {
        let revision = try Revision.empty(options: options, shared: shared)
        let identity = SourceIdentity(name: name, owner: owner, createdAt: .now)
        var files: SourceFiles?
        if let directory = shared.directory {
            files = try SourceFiles.create(in: directory, revision, identity)
        }
        return Source(identity, revision, updatedAt: identity.createdAt, files: files, shared: shared)
    }

    /// Whether creating a source waits for a disk.
    public var isKept: Bool { shared.directory != nil }

    /// Adds sources that a start has found, even if they exceed the current limits.
    func add(_ found: [Source]) {
        sources.withLock { sources in
            for source in found { sources[source.name] = source }
        }
    }

    /// Ends the loading of a source that does not exist.
    func drop(_ unread: Source) {
        sources.withLock { sources in
            if sources[unread.name] === unread { sources[unread.name] = nil }
        }
        unread.retire()
    }

    /// Says of a source that is still being read whether it follows a table, in which case clients may not
    /// change it; false if it has been read, or there is none.
    public func setReplication(_ status: ReplicationStatus?, whileLoading name: SourceName) -> Bool {
        sources.withLock { sources in
            guard let source = sources[name], source.isLoading else { return false }
            source.replication = status
            return true
        }
    }

    private func refusal(_ name: SourceName, _ owner: UInt32?, _ sources: [SourceName: Source]) -> SourceError? {
        guard sources[name] == nil else { return .sourceExists(name) }
        let most = shared.memory.limit.sourcesPerOwner
        guard let owner, most > 0, sources.values.count(where: { $0.owner == owner }) >= most else {
            return nil
        }
        return .tooLarge(
            "user \(owner) has \(most) sources, as many as one user may have (limits.maxSourcesPerUser); delete some"
        )
    }

    /// The source of this name. Throws `sourceNotFound` if there is none.
    ///
    /// - Parameter isSeen: whether a source exists for whoever asks.
    public func source(
        _ name: SourceName, ifSeen isSeen: (SourceName) -> Bool = { _ in true }
    ) throws(SourceError) -> Source {
        guard isSeen(name), let source = sources.withLock({ $0[name] }) else {
            throw .sourceNotFound(name, meant: similar(to: name, ifSeen: isSeen))
        }
        return source
    }

    /// The source whose name is most similar; nil if none of the first ones is similar.
    private func similar(to name: SourceName, ifSeen isSeen: (SourceName) -> Bool) -> SourceName? {
        let names = sources.withLock { Array($0.keys) }.lazy.filter(isSeen).prefix(Self.mostCompared).map(\.text)
        return PropertyNames.nearest(to: name.text, among: names.sorted()).flatMap { SourceName($0) }
    }

    /// The most names to compare with one that is unknown, since that happens on the loop's thread.
    private static let mostCompared = 64

    /// Deletes a source. Running queries finish with the data they began with; running changes fail.
    ///
    /// Freeing a large source takes several milliseconds.
    public func delete(_ name: SourceName) throws(SourceError) {
        try removing(name) { nil }
    }

    /// Deletes a source and creates it without data, with the same owner. Calls find it all the time.
    public func recreate(_ name: SourceName, options: SourceOptions) throws(SourceError) {
        let owner = try source(name).owner
        try removing(name) { () throws(SourceError) in try self.empty(name, options: options, owner: owner) }
    }

    /// Removes a source's files, and puts the source that `successor` makes under its name; if that fails
    /// there is none.
    private func removing(_ name: SourceName, successor: () throws(SourceError) -> Source?) throws(SourceError) {
        // Another call may put a successor there meanwhile.
        while try !removing(wholeSource(name, .never), successor) {}
        Allocator.trim()
    }

    /// - Returns: false if the source is not the one of its name any more.
    private func removing(
        _ source: Source, _ successor: () throws(SourceError) -> Source?
    ) throws(SourceError) -> Bool {
        // Waits for running reads and writes, which may take long, before taking the lock that others need.
        source.files?.settleWrites()
        source.jobs.holdReopening()
        return try naming.withLock(.never) { () throws(SourceError) in
            guard sources.withLock({ $0[source.name] === source }) else { return false }
            // No write is running after this.
            source.files?.retire()
            do throws(SourceError) {
                try shared.directory?.note(lastRevision: shared.newestRevision)
                try shared.directory?.remove(source.name)
            } catch {
                source.files?.unretire()
                source.jobs.releaseReopening()
                // Damage may have been found meanwhile.
                if source.fault != nil { source.reopenLater() }
                throw error
            }
            let made = Result(catching: successor)
            sources.withLock { $0[source.name] = try? made.get() }
            source.retire()
            _ = try made.get()
            return true
        }
    }

    /// All sources, sorted by name.
    public var all: [Source] {
        sources.withLock { Array($0.values) }.sorted { $0.name < $1.name }
    }

    /// How many updates were applied in place, and how many clustered a whole source again, over all sources.
    public var updateCounts: (followed: Int, rebuilt: Int) {
        let counts = shared.updates.counts
        return (counts.yes, counts.no)
    }

    /// Memory of pages of snapshots.
    public var pageBytes: Int { shared.pages.bytes }

    /// Bytes that the cached indexes and columns of filters hold, over all sources.
    public var filterCacheBytes: Int { shared.filters.bytes }

    /// Statistics of the caches of filters' views, of the columns that filters read, and of large clusters' hulls.
    public var caches: (filters: CacheStatistics, columns: CacheStatistics, hulls: CacheStatistics) {
        let hulls = shared.hullUses.counts
        return (
            shared.filters.viewStatistics, shared.filters.columnStatistics,
            CacheStatistics(hits: hulls.yes, misses: hulls.no, bytes: nil)
        )
    }
}
