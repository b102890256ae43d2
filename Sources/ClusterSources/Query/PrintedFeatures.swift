// SPDX-License-Identifier: MIT
import Clustering
import JSON
import Synchronization

/// The texts of features that a view's answers were made of, to be copied where they are asked for again: maps
/// that are looked at overlap, and a cluster takes ten times as long to print as to copy. Safe from any thread.
///
/// Memory is taken as answers ask for features, four times as much where it is full, until there is as much as is
/// worth it; then all texts go, and the next ones come.
final class PrintedFeatures: Sendable {
    private let texts = Mutex<PrintedTexts?>(nil)
    /// The most bytes of texts; 0 where the view is too small for that to be worth it.
    let limit: Int

    /// Answers of more features than these are no map's, and would only push out what maps show.
    static let mostFeatures = 512
    private static let fewestBytes = 1 << 16
    private static let mostBytes = 1 << 24
    private static let growth = 4

    /// - Parameter indexBytes: the memory of the view's index; texts take half of that at the most.
    init(indexBytes: Int) {
        var limit = Self.mostBytes
        while limit > indexBytes / 2 { limit /= 2 }
        self.limit = limit >= Self.fewestBytes ? limit : 0
    }

    /// Bytes that are held.
    var memoryBytes: Int { texts.withLock { $0?.memoryBytes ?? 0 } }

    /// Writes a collection's features, and keeps what had to be printed.
    func write(
        _ nodes: [Node], by writer: FeatureWriter, to collection: inout CollectionWriter,
        into bytes: inout ByteWriter
    ) throws(SourceError) {
        guard var texts = current(replacing: nil) else {
            return try writer.write(nodes, to: &collection, into: &bytes)
        }
        // What was printed together lies together, and is copied together.
        var run = 0..<0
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
            // Past the limit of an answer what comes goes over what was.
            guard bytes.count > start else { continue }
            let isKept = bytes.withUnsafeBytes {
                texts.keep(UnsafeRawBufferPointer(rebasing: $0[start...]), of: node)
            }
            if !isKept, let larger = current(replacing: texts) { texts = larger }
        }
        collection.append(run, of: texts, to: &bytes)
    }

    /// The texts of now; new ones where there are none, or still those that are full.
    private func current(replacing full: PrintedTexts?) -> PrintedTexts? {
        guard limit > 0 else { return nil }
        return texts.withLock { texts in
            if let texts, texts !== full { return texts }
            let capacity = full.map { min(limit, $0.capacity * Self.growth) } ?? Self.fewestBytes
            let new = PrintedTexts(capacity: capacity)
            texts = new
            return new
        }
    }
}
