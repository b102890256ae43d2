// SPDX-License-Identifier: MIT
import Clustering
import Dispatch
import GeoJSON
import JSON
import Synchronization
import SystemSupport

/// A source's data at one moment, with the indexes that answer queries. Immutable: each change makes a new revision.
public final class Revision: Sendable {
    /// Rises with every visible change; 0 for a source that never had data. Unique among all sources of a
    /// registry, including deleted ones.
    public let number: UInt64
    public let options: SourceOptions
    /// The clusters of all loaded features.
    public let view: View
    /// How long clustering took, from features in memory to all zooms ready.
    public let buildMilliseconds: Double
    package let store: FeatureStore
    package let columns: SourceColumns
    package let shared: SharedState
    /// Built on first use.
    private let identifiers: Mutex<IdentifierIndex?>
    /// Built on first use.
    private let codes: Mutex<FeatureCodes?>
    /// Held by the thread that builds either.
    private let making = Mutex(())
    private let followed: Mutex<FollowedLog?>
    /// Whether there is a log in `followed`: most sources follow none, and then no answer waits for a lock.
    private let follows: Atomic<Bool>

    package init(
        number: UInt64, options: SourceOptions, store: FeatureStore, columns: SourceColumns, view: View,
        buildMilliseconds: Double, identifiers: IdentifierIndex? = nil, codes: FeatureCodes? = nil,
        log: FollowedLog? = nil, shared: SharedState
    ) {
        self.number = number
        self.options = options
        self.store = store
        self.columns = columns
        self.view = view
        self.buildMilliseconds = buildMilliseconds
        self.identifiers = Mutex(identifiers)
        self.codes = Mutex(codes)
        followed = Mutex(log)
        follows = Atomic(log != nil)
        self.shared = shared
    }

    /// The log that the data follow, and up to which position; nil if they follow none. The position also
    /// advances when the log contains no changes to these data.
    public var log: FollowedLog? {
        follows.load(ordering: .acquiring) ? followed.withLock { $0 } : nil
    }

    /// Sets the log that the data follow. Must be called before the revision is published.
    package func follow(_ log: FollowedLog?) {
        followed.withLock { $0 = log }
        follows.store(log != nil, ordering: .releasing)
    }

    /// Advances the position: the data have not changed since.
    package func follow(upTo mark: LogMark) {
        followed.withLock { log in
            if let known = log?.position, known < mark.position { log?.mark = mark }
        }
    }

    /// Whether it was built from scratch, so that there is no delta of features or clusters.
    public var isPlain: Bool { store.isPlain && view.index.isPlain }

    /// Whether any import has succeeded.
    public var hasData: Bool { number > 0 }

    /// The extent of the clustered points; nil if there are none.
    public var bounds: Box? { view.bounds }

    /// How many points are clustered.
    public var pointCount: Int { view.index.pointCount }

    /// Bytes of features' text and of the index that stay in files and are read when they are needed.
    public var fileBytes: Int { store.fileBytes + indexFileBytes }

    /// Those of the index: 0 if all of it is in memory.
    public var indexFileBytes: Int { view.index.fileBytes + (view.values?.fileBytes ?? 0) }

    /// Whether its features can be found and read without waiting for a disk.
    public var isResident: Bool { store.isResident && view.index.isResident }

    /// Whether text or a part of the index could not be read, or was not what was written. Never becomes
    /// false again. To be checked after an answer was made, since both are read meanwhile.
    package var isDamaged: Bool { store.isDamaged || view.index.isLost }

    /// Bytes of memory that the revision holds, without the views of filters.
    public var memoryBytes: Int {
        store.memoryBytes + columns.memoryBytes + view.memoryBytes
            + identifiers.withLock { $0?.memoryBytes ?? 0 } + codes.withLock { $0?.memoryBytes ?? 0 }
    }

    /// Throws if the caller asked for a different revision.
    public func check(asked: UInt64?) throws(SourceError) {
        guard let asked, asked != number else { return }
        throw .revisionChanged(asked: asked, current: number)
    }

    /// The index by id, built on first use: about 30 ms for a million features.
    package func identifierIndex(_ cancellation: Cancellation) throws(SourceError) -> IdentifierIndex {
        if let index = identifiers.withLock({ $0 }) { return index }
        // A second caller waits, which is faster than building it twice.
        return try making.withLock { _ throws(SourceError) -> IdentifierIndex in
            if let index = identifiers.withLock({ $0 }) { return index }
            let index = try IdentifierIndex(store, threads: shared.limits.buildThreads, cancellation)
            identifiers.withLock { $0 = index }
            return index
        }
    }

    /// Builds the index by id in the background, so that the first update or location does not wait for it.
    /// Stops when cancelled.
    package func prepareIdentifiers(_ cancellation: Cancellation) {
        guard hasData, readyIdentifiers == nil else { return }
        DispatchQueue.global(qos: .utility).async { _ = try? self.identifierIndex(cancellation) }
    }

    /// The index by id, if it has been built.
    var readyIdentifiers: IdentifierIndex? { identifiers.withLock { $0 } }

    /// Forgets the index by id, whose stored form is damaged. It is built again on first use.
    func forgetIdentifiers() { identifiers.withLock { $0 = nil } }

    /// Whether `writeLocation` takes only microseconds: the index by id has been built, and few features have
    /// the id. O(log features).
    public func isQuickToLocate(_ identifier: FeatureIdentifier) -> Bool {
        guard let index = identifiers.withLock({ $0 }), index.entries.isResident else { return false }
        return index.hasFew(identifier)
    }

    /// A number for each feature, computed on first use: about 40 ms for a million.
    package func featureCodes(_ cancellation: Cancellation) throws(SourceError) -> FeatureCodes {
        if let codes = codes.withLock({ $0 }) { return codes }
        let made = try FeatureCodes(store, threads: shared.limits.buildThreads, cancellation)
        return codes.withLock { known in
            if let known { return known }
            known = made
            return made
        }
    }

    /// The numbers, if they have been computed.
    package var readyFeatureCodes: FeatureCodes? { codes.withLock { $0 } }

    /// Whether answers that name features by number can be written without computing the numbers first.
    public var isReadyToName: Bool { readyFeatureCodes != nil }

    /// The same data elsewhere: the features in another store of the same lineage, and what else is given.
    package func with(
        _ store: FeatureStore, _ view: View? = nil, identifiers: IdentifierIndex? = nil,
        codes: FeatureCodes? = nil
    ) -> Revision {
        copy(number: number, store, view ?? self.view, identifiers, codes)
    }

    /// The same data under a new number.
    package func renumbered() -> Revision {
        copy(number: hasData ? shared.nextRevision() : 0, store, view, nil, nil)
    }

    private func copy(
        number: UInt64, _ store: FeatureStore, _ view: View, _ identifiers: IdentifierIndex?, _ codes: FeatureCodes?
    ) -> Revision {
        Revision(
            number: number, options: options, store: store, columns: columns, view: view,
            buildMilliseconds: buildMilliseconds, identifiers: identifiers ?? readyIdentifiers,
            codes: codes ?? readyFeatureCodes, log: log, shared: shared)
    }
}

extension Revision {
    /// The cluster with an id. Takes about a microsecond.
    public func cluster(
        _ id: Int64, in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> ClusterOrdinal {
        let codes = options.clusterIds == .origin ? try featureCodes(cancellation) : nil
        guard let cluster = cluster(id, in: view, codes) else { throw .clusterNotFound(id) }
        return cluster
    }

    /// The same without building anything: nil if there is no such cluster, or if the needed index is not built yet.
    package func knownCluster(_ id: Int64, in view: View) -> ClusterOrdinal? {
        cluster(id, in: view, readyFeatureCodes)
    }

    private func cluster(_ id: Int64, in view: View, _ codes: FeatureCodes?) -> ClusterOrdinal? {
        guard options.clusterIds == .origin else { return view.index.cluster(id: id) }
        let zoom = Int(id & 31) - 1
        guard let codes, id > 0, zoom >= 0, let row = codes.row(of: UInt64(id >> 5), in: store),
            let point = view.point(of: row)
        else { return nil }
        return view.index.cluster(from: point, at: Zoom(rawValue: zoom))
    }

    /// The id of a cluster that grew from a feature, by the option `clusterIds: "origin"`.
    ///
    /// The feature's number above the zoom: 53 bits, which JSON and JavaScript represent exactly.
    package func originId(of cluster: ClusterOrdinal, in view: View, _ codes: FeatureCodes) -> Int64 {
        let row = view.feature(of: view.index.origin(of: .cluster(cluster)))
        let zoom = view.index.zoom(of: cluster).rawValue
        return Int64(codes.code(of: row, in: store)) << 5 | Int64(zoom + 1)
    }
}

/// The number of a source's current revision. Holding this object does not keep the source's data in
/// memory. Safe from any thread.
package final class CurrentRevision: Sendable {
    /// 0 if the source has no data, was deleted, or cannot be read.
    private let number: Atomic<UInt64>

    init(_ number: UInt64) { self.number = Atomic(number) }

    func set(_ number: UInt64) { self.number.store(number, ordering: .releasing) }

    /// Whether there is no current revision: the source has no data yet, was deleted, or cannot be read.
    package var isNone: Bool { number.load(ordering: .acquiring) == 0 }

    /// Whether a revision is still the current one. Always false for revision 0, that of sources without data.
    package func isStill(_ revision: UInt64) -> Bool {
        revision > 0 && number.load(ordering: .acquiring) == revision
    }
}
