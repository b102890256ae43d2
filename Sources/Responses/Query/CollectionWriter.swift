// SPDX-License-Identifier: MIT
import Clustering
import JSON
import SourceEngine
import SystemSupport

/// Writes the frame of a FeatureCollection, which messages do not have, and checks for cancellation between features.
struct CollectionWriter: ~Copyable {
    /// Whether no feature has been written.
    var isFirst = true
    /// How many more features are written before the next check.
    private var left: Int
    private let interval: Int
    private let isJSON: Bool

    /// Begins the collection.
    ///
    /// - Parameter interval: how many features are written between two checks for cancellation.
    init(into bytes: inout ByteWriter, interval: Int = 256, form: FeatureForm = .json) {
        self.interval = interval
        left = interval
        isJSON = form == .json
        if isJSON { bytes.append("{\"type\":\"FeatureCollection\",\"features\":[") }
    }

    /// Must be called before each feature.
    mutating func beginFeature(_ bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError) {
        if !isFirst, isJSON { bytes.append(",") }
        isFirst = false
        left -= 1
        guard left <= 0 else { return }
        left = interval
        // An answer beyond its limit is useless.
        if bytes.hasOverflowed || cancellation.isCancelled { throw .cancelled }
    }

    /// Ends the array of features. Further members may follow.
    consuming func endFeatures(_ bytes: inout ByteWriter) {
        if isJSON { bytes.append("]") }
    }
}
