// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Sources
import Synchronization
import SystemSupport

/// The texts of features that a view's answers were made of, to be copied where they are asked for again: maps
/// that are looked at overlap, and a cluster takes ten times as long to print as to copy. Safe from any thread.
///
/// Memory is taken as answers ask for features, four times as much where it is full, until there is as much as is
/// worth it; then all texts go, and the next ones come. Where few of them were asked for again, that is only after a
/// while: maps that are everywhere and never the same gain nothing by it.
final class PrintedFeatures: Sendable {
    private struct State {
        var texts: PrintedTexts?
        /// Whether keeping has rested since these texts became full.
        var hasRested = false
    }

    private let state = Mutex(State())
    /// How many features are still to be printed before texts are kept again.
    private let rest = Atomic<Int>(0)
    /// The most bytes of texts; 0 where the view is too small for that to be worth it.
    let limit: Int

    /// Answers of more features than these are no map's, and would only push out what maps show.
    static let mostFeatures = 512
    private static let fewestBytes = 1 << 16
    private static let mostBytes = 1 << 24
    private static let growth = 4
    /// How many features are printed without being kept, for each that was kept in vain.
    private static let restFactor = 4

    /// - Parameter indexBytes: the memory of the view's index; texts take half of that at the most.
    init(indexBytes: Int) {
        var limit = Self.mostBytes
        while limit > indexBytes / 2 { limit /= 2 }
        self.limit = limit >= Self.fewestBytes ? limit : 0
    }

    /// Whether texts are not kept at the moment.
    var isResting: Bool { rest.load(ordering: .relaxed) > 0 }

    /// Bytes that are held.
    var memoryBytes: Int { state.withLock { $0.texts?.memoryBytes ?? 0 } }

    /// Writes a collection's features, and keeps what had to be printed.
    func write(
        _ nodes: [Node], by writer: FeatureWriter, to collection: inout CollectionWriter,
        into bytes: inout ByteWriter
    ) throws(SourceError) {
        guard var texts = current(replacing: nil) else {
            return try writer.write(nodes, to: &collection, into: &bytes)
        }
        if collection.append(nodes, of: texts, to: &bytes) { return texts.countFound(nodes.count) }
        // What was printed together lies together, and is copied together.
        var run = 0..<0
        var printed = 0
        let isResting = isResting
        for node in nodes {
            let place = texts.find(node)
            if !place.isEmpty {
                if place.lowerBound == run.upperBound {
                    run = run.lowerBound..<place.upperBound
                } else {
                    collection.append(run, of: texts, to: &bytes)
                    run = place
                }
                continue
            }
            collection.append(run, of: texts, to: &bytes)
            run = 0..<0
            try collection.beginFeature(&bytes, writer.cancellation)
            let start = bytes.count
            try writer.write(node, into: &bytes)
            printed += 1
            // Past the limit of an answer what comes goes over what was.
            guard bytes.count > start, !isResting else { continue }
            let isKept = bytes.withUnsafeBytes {
                texts.keep(UnsafeRawBufferPointer(rebasing: $0[start...]), of: node)
            }
            if !isKept, let larger = current(replacing: texts) { texts = larger }
        }
        collection.append(run, of: texts, to: &bytes)
        texts.countFound(nodes.count - printed)
        if isResting { rest.subtract(printed, ordering: .relaxed) }
    }

    /// The current texts; new ones if there are none, or still those that are full. Nil if none are to be kept.
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
            let new = PrintedTexts(capacity: capacity)
            state = State(texts: new)
            return new
        }
    }
}
