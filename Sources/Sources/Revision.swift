// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Dispatch
import GeoJSON
import JSON
import SourceStorage
import Synchronization
import SystemSupport

/// A source's data at one time, with all that answers queries of them. Immutable: a change makes another.
public final class Revision: Sendable {
    /// Rises with every visible change; 0 for a source that never had data. No two revisions of a
    /// registry's sources, deleted ones too, have the same number above 0.
    public let number: UInt64
    public let options: SourceOptions
    /// The clusters of all loaded features.
    public let view: View
    /// How long clustering took, features in memory to all zooms ready.
    public let buildMilliseconds: Double
    package let store: FeatureStore
    package let columns: SourceColumns
    package let shared: SharedState
    /// Made when first asked for.
    private let identifiers: Mutex<IdentifierIndex?>
    /// Made when first asked for.
    private let codes: Mutex<FeatureCodes?>
    /// Held by who makes it.
    private let making = Mutex(())
    private let followed: Mutex<FollowedLog?>

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
        self.shared = shared
    }

    /// The log that the data follow, and up to where; nil if they follow none. The position rises while the log goes on
    /// without changes to these data.
    public var log: FollowedLog? { followed.withLock { $0 } }

    /// Says what log the data follow. To be called before the revision answers.
    package func follow(_ log: FollowedLog?) { followed.withLock { $0 = log } }

    /// The same data are those of a later position too.
    package func follow(upTo mark: LogMark) {
        followed.withLock { log in
            if let known = log?.position, known < mark.position { log?.mark = mark }
        }
    }

    /// Whether it was built as a whole: no changes lie beside features and clusters.
    public var isPlain: Bool { store.isPlain && view.index.isPlain }

    /// Whether an import ever succeeded.
    public var hasData: Bool { number > 0 }

    /// The extent of the clustered points; nil if there are none.
    public var bounds: Box? { view.bounds }

    /// How many points are clustered.
    public var pointCount: Int { view.index.pointCount }

    /// Bytes of features' text that stay in a file and are read when they are needed.
    public var fileBytes: Int { store.fileBytes }

    /// Whether its features can be read without waiting for a disk.
    public var isAtHand: Bool { store.isAtHand }

    /// Bytes of memory that the revision holds, views of filters apart.
    public var memoryBytes: Int {
        store.memoryBytes + columns.memoryBytes + view.memoryBytes
            + identifiers.withLock { $0?.memoryBytes ?? 0 } + codes.withLock { $0?.memoryBytes ?? 0 }
    }

    /// Refuses a caller who asks for other data than these.
    public func check(asked: UInt64?) throws(SourceError) {
        guard let asked, asked != number else { return }
        throw .revisionChanged(asked: asked, current: number)
    }

    /// The features by id, made where it is not there yet: some 30 ms for a million.
    package func identifierIndex(_ cancellation: Cancellation) throws(SourceError) -> IdentifierIndex {
        if let index = identifiers.withLock({ $0 }) { return index }
        // Who comes second waits, which takes less long than both making it.
        return try making.withLock { _ throws(SourceError) -> IdentifierIndex in
            if let index = identifiers.withLock({ $0 }) { return index }
            let index = try IdentifierIndex(store, threads: shared.limits.buildThreads, cancellation)
            identifiers.withLock { $0 = index }
            return index
        }
    }

    /// The same of the features without gaps, where this has it.
    package var gatheredIdentifiers: IdentifierIndex? {
        identifiers.withLock { $0 }?.gathered(from: store)
    }

    /// Makes the above beside whatever else is done, so that the first update or location does not wait for it; not
    /// any more once that is cancelled.
    package func prepareIdentifiers(_ cancellation: Cancellation) {
        guard hasData, !isReadyToLocate else { return }
        DispatchQueue.global(qos: .utility).async { _ = try? self.identifierIndex(cancellation) }
    }

    /// Whether the features' index by id is there.
    var isReadyToLocate: Bool { identifiers.withLock { $0 != nil } }

    /// Whether `writeLocation` finds a feature within some microseconds: the index by id is there, and few features have
    /// the id. O(log features).
    public func isQuickToLocate(_ identifier: FeatureIdentifier) -> Bool {
        identifiers.withLock { $0 }?.hasFew(identifier) ?? false
    }

    /// A number for each feature, made if it is not there yet: about 40 ms for a million.
    package func featureCodes(_ cancellation: Cancellation) throws(SourceError) -> FeatureCodes {
        if let codes = codes.withLock({ $0 }) { return codes }
        let made = try FeatureCodes(store, threads: shared.limits.buildThreads, cancellation)
        return codes.withLock { known in
            if let known { return known }
            known = made
            return made
        }
    }

    /// The numbers, if they are there already.
    package var readyFeatureCodes: FeatureCodes? { codes.withLock { $0 } }

    /// Whether answers that name features by their numbers need not make these first.
    public var isReadyToName: Bool { readyFeatureCodes != nil }

    /// The same data with the same features in another store of the same lineage.
    package func with(_ store: FeatureStore) -> Revision {
        Revision(
            number: number, options: options, store: store, columns: columns, view: view,
            buildMilliseconds: buildMilliseconds, identifiers: identifiers.withLock { $0 },
            codes: readyFeatureCodes, log: log, shared: shared)
    }

    /// The same data under a new number.
    package func renumbered() -> Revision {
        Revision(
            number: hasData ? shared.nextRevision() : 0, options: options, store: store, columns: columns,
            view: view, buildMilliseconds: buildMilliseconds, identifiers: identifiers.withLock { $0 },
            codes: readyFeatureCodes, log: log, shared: shared)
    }
}
