// SPDX-License-Identifier: MIT
import Clustering
import Dispatch
import GeoJSON
import JSON
import Synchronization
import SystemSupport

/// A source's data at one moment, with the indexes that answer queries. Immutable: each change makes a new revision.
///
/// Each named view of a source (the option `views`) is a revision of its own, which shares all with the source's but its
/// options and its clusters. So a query needs not know whether it reads a source or a view.
public final class Revision: Sendable {
    /// Rises with every visible change; 0 for a source that never had data. Unique among all sources of a
    /// registry, including deleted ones.
    public let number: UInt64
    public let options: SourceOptions
    /// The name of the view whose clusters these are; nil for the source's own.
    public let name: SourceName?
    /// The clusters of all loaded features or, in a named view, of those that it shows.
    public let view: View
    /// The named views, in the order of the options. Only while changes are replayed may some be missing. A view has
    /// none.
    public let views: [Revision]
    /// How long clustering took, from features in memory to all zooms ready.
    public let buildMilliseconds: Double
    package let store: FeatureStore
    package let columns: SourceColumns
    package let shared: SharedState
    private let features: FeatureTables

    /// What the views of a revision share besides the features.
    private final class FeatureTables: Sendable {
        /// Built on first use.
        let identifiers: Mutex<IdentifierIndex?>
        /// Built on first use.
        let codes: Mutex<FeatureCodes?>
        /// Held by the thread that builds either.
        let making = Mutex(())
        let followed: Mutex<FollowedLogs>
        /// Whether there is a log in `followed`: most sources follow none, and then no answer waits for a lock.
        let follows: Atomic<Bool>

        init(_ identifiers: IdentifierIndex?, _ codes: FeatureCodes?, _ logs: FollowedLogs) {
            self.identifiers = Mutex(identifiers)
            self.codes = Mutex(codes)
            followed = Mutex(logs)
            follows = Atomic(logs.latest != nil)
        }
    }

    package init(
        number: UInt64, options: SourceOptions, store: FeatureStore, columns: SourceColumns, view: View,
        views: [NamedView] = [], buildMilliseconds: Double, identifiers: IdentifierIndex? = nil,
        codes: FeatureCodes? = nil, logs: FollowedLogs = FollowedLogs(), shared: SharedState
    ) {
        self.number = number
        self.options = options
        name = nil
        self.store = store
        self.columns = columns
        self.view = view
        self.buildMilliseconds = buildMilliseconds
        let features = FeatureTables(identifiers, codes, logs)
        self.features = features
        self.shared = shared
        let declared = options.views.compactMap { option in views.first { $0.name == option.name } }
        self.views = declared.map {
            Revision($0, number: number, store: store, columns: columns, features, shared: shared)
        }
    }

    private init(
        _ named: NamedView, number: UInt64, store: FeatureStore, columns: SourceColumns, _ features: FeatureTables,
        shared: SharedState
    ) {
        self.number = number
        (options, name, view, views) = (named.options, named.name, named.view, [])
        buildMilliseconds = named.buildMilliseconds
        (self.store, self.columns, self.features, self.shared) = (store, columns, features, shared)
    }

    /// The revision of a named view; nil if there is none of this name.
    package func named(_ name: SourceName) -> Revision? { views.first { $0.name == name } }

    /// What a query of a source reads whose current revision this is. Throws `viewNotFound`.
    public func read(by name: SourceReference) throws(SourceError) -> Revision {
        guard let view = name.view else { return self }
        guard let named = named(view) else { throw .viewNotFound(name, among: views.compactMap(\.name)) }
        return named
    }

    /// The logs that the data follow, and up to which positions. A position also advances when its log contains no
    /// changes to these data.
    public var logs: FollowedLogs {
        features.follows.load(ordering: .acquiring) ? features.followed.withLock { $0 } : FollowedLogs()
    }

    /// The position of the log that changed last, as answers have it; nil if the data follow none.
    public var position: String? { logs.latest?.mark.position }

    /// Sets the logs that the data follow.
    package func follow(_ logs: FollowedLogs) {
        features.followed.withLock { $0 = logs }
        features.follows.store(logs.latest != nil, ordering: .releasing)
    }

    /// Advances the position of the table's log: the data have not changed since.
    ///
    /// - Parameter isLater: whether the mark comes after the known one.
    package func follow(upTo mark: LogMark, if isLater: (LogMark) -> Bool) {
        features.followed.withLock { logs in
            guard let known = logs.table, isLater(known.mark) else { return }
            logs = logs.advanced(to: FollowedLog(origin: known.origin, mark: mark))
        }
    }

    /// Whether it was built from scratch, so that there is no delta of features or clusters.
    public var isPlain: Bool { store.isPlain && view.index.isPlain && views.allSatisfy { $0.view.index.isPlain } }

    /// Whether any import has succeeded.
    public var hasData: Bool { number > 0 }

    /// The extent of the clustered points; nil if there are none.
    public var bounds: Box? { view.bounds }

    /// How many points are clustered.
    public var pointCount: Int { view.index.pointCount }

    /// Bytes of features' text and of the indexes that stay in files and are read when they are needed. Those of a named
    /// view are its index's.
    public var fileBytes: Int { (name == nil ? store.fileBytes : 0) + indexFileBytes }

    /// Those of the indexes: 0 if all of them are in memory.
    public var indexFileBytes: Int {
        views.reduce(view.index.fileBytes + (view.values?.fileBytes ?? 0)) { $0 + $1.indexFileBytes }
    }

    /// Whether its features can be found and read without waiting for a disk.
    public var isResident: Bool { store.isResident && view.index.isResident }

    /// Whether text or a part of the index could not be read, or was not what was written. Never becomes
    /// false again. To be checked after an answer was made, since both are read meanwhile.
    package var isDamaged: Bool { store.isDamaged || view.index.isLost || views.contains { $0.view.index.isLost } }

    /// Bytes of memory that the revision holds, without the views of filters. A named view holds no features.
    public var memoryBytes: Int {
        guard name == nil else { return view.memoryBytes }
        return store.memoryBytes + columns.memoryBytes + views.reduce(view.memoryBytes) { $0 + $1.memoryBytes }
            + features.identifiers.withLock { $0?.memoryBytes ?? 0 } + features.codes.withLock { $0?.memoryBytes ?? 0 }
    }

    /// Throws if the caller asked for a different revision.
    public func check(asked: UInt64?) throws(SourceError) {
        guard let asked, asked != number else { return }
        throw .revisionChanged(asked: asked, current: number)
    }

    /// The index by id, built on first use: about 30 ms for a million features.
    package func identifierIndex(_ cancellation: Cancellation) throws(SourceError) -> IdentifierIndex {
        if let index = features.identifiers.withLock({ $0 }) { return index }
        // A second caller waits, which is faster than building it twice.
        return try features.making.withLock { _ throws(SourceError) -> IdentifierIndex in
            if let index = features.identifiers.withLock({ $0 }) { return index }
            let index = try IdentifierIndex(store, threads: shared.limits.buildThreads, cancellation)
            features.identifiers.withLock { $0 = index }
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
    var readyIdentifiers: IdentifierIndex? { features.identifiers.withLock { $0 } }

    /// Forgets the index by id, whose stored form is damaged. It is built again on first use.
    func forgetIdentifiers() { features.identifiers.withLock { $0 = nil } }

    /// Whether `writeLocation` takes only microseconds: the index by id has been built, and few features have
    /// the id. O(log features).
    public func isQuickToLocate(_ identifier: FeatureIdentifier) -> Bool {
        guard let index = features.identifiers.withLock({ $0 }), index.entries.isResident else { return false }
        return index.hasFew(identifier)
    }

    /// A number for each feature, computed on first use: about 40 ms for a million.
    package func featureCodes(_ cancellation: Cancellation) throws(SourceError) -> FeatureCodes {
        if let codes = features.codes.withLock({ $0 }) { return codes }
        let made = try FeatureCodes(store, threads: shared.limits.buildThreads, cancellation)
        return features.codes.withLock { known in
            if let known { return known }
            known = made
            return made
        }
    }

    /// The numbers, if they have been computed.
    package var readyFeatureCodes: FeatureCodes? { features.codes.withLock { $0 } }

    /// Whether answers that name features by number can be written without computing the numbers first.
    public var isReadyToName: Bool { readyFeatureCodes != nil }

    /// The same data elsewhere: the features in another store of the same lineage, and what else is given.
    package func with(
        _ store: FeatureStore, _ view: View? = nil, views: [NamedView]? = nil, identifiers: IdentifierIndex? = nil,
        codes: FeatureCodes? = nil
    ) -> Revision {
        copy(number: number, store, view ?? self.view, views ?? namedViews, identifiers, codes)
    }

    /// The same data under a new number.
    package func renumbered() -> Revision {
        copy(number: hasData ? shared.nextRevision() : 0, store, view, namedViews, nil, nil)
    }

    private func copy(
        number: UInt64, _ store: FeatureStore, _ view: View, _ views: [NamedView], _ identifiers: IdentifierIndex?,
        _ codes: FeatureCodes?
    ) -> Revision {
        Revision(
            number: number, options: options, store: store, columns: columns, view: view, views: views,
            buildMilliseconds: buildMilliseconds, identifiers: identifiers ?? readyIdentifiers,
            codes: codes ?? readyFeatureCodes, logs: logs, shared: shared)
    }

    /// The lineages of the indexes, by the views' names; nil for the source's own.
    package var lineages: [SourceName?: UInt64] {
        Dictionary(uniqueKeysWithValues: ([self] + views).map { ($0.name, $0.view.index.lineage) })
    }

    /// The named views, for another revision.
    package var namedViews: [NamedView] { views.compactMap(NamedView.init) }
}

/// A view's clusters with its name and its options.
package struct NamedView: Sendable {
    package let name: SourceName
    package let options: SourceOptions
    package let view: View
    package let buildMilliseconds: Double

    package init(_ option: ViewOption, _ view: View, buildMilliseconds: Double) {
        (name, options, self.view) = (option.name, option.options, view)
        self.buildMilliseconds = buildMilliseconds
    }

    /// Nil for a source's own clusters.
    fileprivate init?(_ revision: Revision) {
        guard let name = revision.name else { return nil }
        (self.name, options, view) = (name, revision.options, revision.view)
        buildMilliseconds = revision.buildMilliseconds
    }

    /// The same view with other clusters.
    package func with(_ view: View) -> NamedView { NamedView(name, options, view, buildMilliseconds) }

    private init(_ name: SourceName, _ options: SourceOptions, _ view: View, _ buildMilliseconds: Double) {
        (self.name, self.options, self.view) = (name, options, view)
        self.buildMilliseconds = buildMilliseconds
    }
}

extension Revision {
    /// The cluster with an id. Takes about a microsecond.
    public func cluster(
        _ id: Int64, in view: View, _ cancellation: Cancellation
    ) throws(SourceError) -> ClusterOrdinal {
        let codes = namesOrigins(in: view) ? try featureCodes(cancellation).seen(in: view) : nil
        guard let cluster = cluster(id, in: view, codes) else { throw .clusterNotFound(id) }
        return cluster
    }

    /// The same without building anything: nil if there is no such cluster, or if the needed index is not built yet.
    package func knownCluster(_ id: Int64, in view: View) -> ClusterOrdinal? {
        cluster(id, in: view, readyFeatureCodes?.seen(in: view))
    }

    private func cluster(_ id: Int64, in view: View, _ codes: FeatureCodes?) -> ClusterOrdinal? {
        guard namesOrigins(in: view) else { return view.index.cluster(id: id) }
        let zoom = Int(id & 31) - 1
        guard let codes, id > 0, zoom >= 0, let row = codes.row(of: UInt64(id >> 5), in: store),
            let point = view.point(of: row)
        else { return nil }
        return view.index.cluster(from: point, at: Zoom(rawValue: zoom))
    }

    /// Whether a view's cluster ids are made from the features that they grew from. For readers who may see no single
    /// feature they are not: whoever knows a feature's id could look for its clusters.
    package func namesOrigins(in view: View) -> Bool { options.clusterIds == .origin && view.leastCount <= 1 }

    /// The id of a cluster that grew from a feature, by the option `clusterIds: "origin"`.
    ///
    /// The feature's number above the zoom: 53 bits, which JSON and JavaScript represent exactly.
    package func originId(of cluster: ClusterOrdinal, in view: View, _ codes: FeatureCodes) -> Int64 {
        let zoom = view.index.zoom(of: cluster).rawValue
        if let known = view.clusterCodes, cluster.rawValue < known.count {
            return Int64(known[Int(cluster.rawValue)] & FeatureCodes.mask) << 5 | Int64(zoom + 1)
        }
        let row = view.feature(of: view.index.origin(of: .cluster(cluster)))
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
