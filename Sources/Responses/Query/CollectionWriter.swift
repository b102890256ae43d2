// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// Writes the frame of a FeatureCollection and checks for cancellation between features.
struct CollectionWriter: ~Copyable {
    private var isFirst = true
    /// How many more features are written before the next check.
    private var left: Int
    private let interval: Int

    /// Begins the collection.
    ///
    /// - Parameter interval: how many features are written between two checks for cancellation.
    init(into bytes: inout ByteWriter, interval: Int = 256) {
        self.interval = interval
        left = interval
        bytes.append("{\"type\":\"FeatureCollection\",\"features\":[")
    }

    /// Must be called before each feature.
    mutating func beginFeature(_ bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError) {
        if !isFirst { bytes.append(",") }
        isFirst = false
        left -= 1
        guard left <= 0 else { return }
        left = interval
        // An answer beyond its limit is useless.
        if bytes.hasOverflowed || cancellation.isCancelled { throw .cancelled }
    }

    /// Copies features that were printed before.
    @inline(__always) mutating func append(
        _ range: Range<Int>, of texts: PrintedTexts, to bytes: inout ByteWriter
    ) {
        guard !range.isEmpty else { return }
        texts.write(isFirst ? range.dropFirst() : range, into: &bytes)
        isFirst = false
    }

    /// Copies features that were all printed before; writes nothing and returns false if one was not.
    ///
    /// All are looked up before the first is copied. The look-ups are scattered over memory, and this way the processor
    /// waits for all of them at the same time.
    mutating func append(_ nodes: [Node], of texts: PrintedTexts, to bytes: inout ByteWriter) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: nodes.count) { entries in
            for index in nodes.indices {
                let entry = texts.entry(of: nodes[index])
                guard entry != 0 else { return false }
                entries[index] = entry
            }
            var run = 0..<0
            for entry in entries {
                let text = PrintedTexts.Entry.range(entry)
                if text.lowerBound == run.upperBound {
                    run = run.lowerBound..<text.upperBound
                } else {
                    append(run, of: texts, to: &bytes)
                    run = text
                }
            }
            append(run, of: texts, to: &bytes)
            return true
        }
    }

    /// Ends the array of features. Further members may follow.
    consuming func endFeatures(_ bytes: inout ByteWriter) {
        bytes.append("]")
    }
}

extension Revision {
    /// Writes the collection's last members.
    func endCollection(_ bytes: inout ByteWriter) {
        writeVersion(into: &bytes)
        bytes.append("}")
    }
}
