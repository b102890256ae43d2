// SPDX-License-Identifier: MIT
import JSON

/// Writes the frame of a FeatureCollection and looks for cancellation between features.
struct CollectionWriter: ~Copyable {
    private var count = 0
    private let interval: Int

    /// Begins the collection.
    ///
    /// - Parameter interval: how many features are written between two looks for cancellation.
    init(into bytes: inout ByteWriter, interval: Int = 256) {
        self.interval = interval
        bytes.append("{\"type\":\"FeatureCollection\",\"features\":[")
    }

    /// To be called before each feature is written.
    mutating func beginFeature(_ bytes: inout ByteWriter, _ cancellation: Cancellation) throws(SourceError) {
        if count > 0 { bytes.append(",") }
        count += 1
        guard count % interval == 0 else { return }
        // Nobody can use what goes past the limit of an answer.
        if bytes.hasOverflowed || cancellation.isCancelled { throw .cancelled }
    }

    /// Ends the list of features; further members may follow.
    consuming func endFeatures(_ bytes: inout ByteWriter) {
        bytes.append("]")
    }
}

extension Revision {
    /// Writes the collection's last members.
    func endCollection(_ bytes: inout ByteWriter) {
        bytes.append(",\"revision\":")
        bytes.append(integer: Int64(clamping: number))
        bytes.append("}")
    }
}
