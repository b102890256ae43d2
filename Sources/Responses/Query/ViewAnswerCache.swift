// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import Synchronization

/// What answers cache for a view: requested hulls, and serialized features.
final class ViewAnswerCache: ViewCache, @unchecked Sendable {
    let hulls = HullCache()
    let features: PrintedFeatures
    /// The same as messages.
    let messages: PrintedFeatures

    private let extent = Mutex<Box?>(nil)

    /// The extent of the view's points, found on first use.
    func bounds(_ find: () throws(SourceError) -> Box) throws(SourceError) -> Box {
        if let known = extent.withLock({ $0 }) { return known }
        let found = try find()
        extent.withLock { $0 = found }
        return found
    }

    private init(_ view: View) {
        // There are many views of filters, and their memory is counted when they are made.
        let indexBytes = view.members == nil ? view.index.memoryBytes : 0
        features = PrintedFeatures(indexBytes: indexBytes, areJSON: true)
        messages = PrintedFeatures(indexBytes: indexBytes, areJSON: false)
    }

    override var memoryBytes: Int { features.memoryBytes + messages.memoryBytes }

    /// The features in the form of an output; nil if it has them in a form of its own.
    func printed(_ output: FeatureOutput) -> PrintedFeatures? {
        guard output.isWhole else { return nil }
        return switch output.form {
        case .json: features
        case .protobuf(structProperties: false): messages
        case .protobuf(structProperties: true): nil
        }
    }

    static func of(_ view: View) -> ViewAnswerCache {
        view.cache { ViewAnswerCache(view) }
    }
}

/// Caches requested hulls of large clusters.
final class HullCache: Sendable {
    private let hulls = Mutex<[ClusterOrdinal: ConvexHull]>([:])

    /// Hulls of fewer points are too fast to compute to be worth caching.
    private static let smallestKept = 1000
    private static let capacity = 256

    func hull(of cluster: ClusterOrdinal) -> ConvexHull? {
        hulls.withLock { $0[cluster] }
    }

    /// Caches a hull, evicting others if there are too many. False if the cluster is too small to be worth it.
    func keep(_ hull: ConvexHull, of cluster: ClusterOrdinal, points: Int) -> Bool {
        guard points >= Self.smallestKept else { return false }
        hulls.withLock { hulls in
            if hulls.count >= Self.capacity, let any = hulls.keys.first { hulls[any] = nil }
            hulls[cluster] = hull
        }
        return true
    }
}

/// Caches the serialized features of a view's answers. Views of maps
/// overlap, and printing a cluster takes ten times as long as copying it. Safe from any thread.
///
/// Memory grows with use, by a factor of four whenever it is full, up to the limit. Then all texts are
/// dropped and caching starts over. If few of them were reused, it starts over only after a
/// pause, since views that never repeat gain nothing from a cache.
final class PrintedFeatures: Sendable {
    private struct State {
        var texts: PrintedTexts?
        /// Whether caching has paused since these texts became full.
        var hasRested = false
    }

    private let state = Mutex(State())
    /// How many more features are printed before caching resumes.
    private let rest = Atomic<Int>(0)
    /// The most bytes of texts; 0 if the view is too small to be worth caching.
    let limit: Int
    private let areJSON: Bool

    /// Answers with more features do not come from maps, and would only evict what maps show.
    static let mostFeatures = 512
    private static let fewestBytes = 1 << 16
    private static let mostBytes = 1 << 24
    private static let growth = 4
    /// How many features are printed without caching for each one that was cached in vain.
    private static let restFactor = 4

    /// - Parameter indexBytes: the memory of the view's index. Texts take at most half of that.
    init(indexBytes: Int, areJSON: Bool) {
        self.areJSON = areJSON
        var limit = Self.mostBytes
        while limit > indexBytes / 2 { limit /= 2 }
        self.limit = limit >= Self.fewestBytes ? limit : 0
    }

    /// Whether caching is paused.
    var isResting: Bool { rest.load(ordering: .relaxed) > 0 }

    /// Bytes of memory held.
    var memoryBytes: Int { state.withLock { $0.texts?.memoryBytes ?? 0 } }

    /// Copies a collection's features if all are cached. Otherwise writes nothing and returns false.
    func copy(
        _ nodes: [Node], to collection: inout CollectionWriter, into bytes: inout ByteWriter
    ) -> Bool {
        guard let texts = current(replacing: nil), collection.append(nodes, of: texts, to: &bytes) else {
            return false
        }
        texts.countFound(nodes.count)
        return true
    }

    /// Writes a collection's features, and caches those that had to be printed.
    func write(
        _ nodes: [Node], by writer: FeatureWriter, to collection: inout CollectionWriter, into bytes: inout ByteWriter
    ) throws(SourceError) {
        guard var texts = current(replacing: nil) else {
            return try writer.write(nodes, to: &collection, into: &bytes)
        }
        writer.willRead(nodes)
        // Features that were printed together are adjacent and copied together.
        var run = 0..<0
        var printed = 0
        let isResting = isResting
        for node in nodes {
            let range = texts.find(node)
            if !range.isEmpty {
                if range.lowerBound == run.upperBound {
                    run = run.lowerBound..<range.upperBound
                } else {
                    collection.append(run, of: texts, to: &bytes)
                    run = range
                }
                continue
            }
            collection.append(run, of: texts, to: &bytes)
            run = 0..<0
            try collection.beginFeature(&bytes, writer.cancellation)
            let start = bytes.count
            try writer.writeFeature(node, into: &bytes)
            printed += 1
            // Beyond an answer's limit, the writer overwrites its buffer, so the text is not valid.
            guard bytes.count > start, !isResting else { continue }
            if !texts.keep(bytes, from: start, of: node), let larger = current(replacing: texts) {
                texts = larger
            }
        }
        collection.append(run, of: texts, to: &bytes)
        texts.countFound(nodes.count - printed)
        if isResting { rest.subtract(printed, ordering: .relaxed) }
    }

    /// The current texts; new ones if there are none, or if they are still the full ones. Nil while caching is paused.
    private func current(replacing full: PrintedTexts?) -> PrintedTexts? {
        guard limit > 0 else { return nil }
        return state.withLock { state in
            if let texts = state.texts, texts !== full { return texts }
            if let full, isResting || !state.hasRested && full.capacity == limit && !full.hasPaid {
                if !isResting { rest.store(Self.restFactor * full.keptCount, ordering: .relaxed) }
                state.hasRested = true
                return nil
            }
            let capacity = full.map { min(limit, $0.capacity * Self.growth) } ?? Self.fewestBytes
            let new = PrintedTexts(capacity: capacity, areJSON: areJSON)
            state = State(texts: new)
            return new
        }
    }
}
