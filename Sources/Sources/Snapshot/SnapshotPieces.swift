// SPDX-License-Identifier: MIT
import Clustering
import GeoJSON
import SourceStorage

/// Loads the pieces of a snapshot that queries of a box read.
final class SnapshotPieces: IndexLoader {
    private let pieces: SectionPieces
    private let store: FeatureStore

    /// - Parameter store: on the pieces' image.
    init(_ pieces: SectionPieces, _ store: FeatureStore) { (self.pieces, self.store) = (pieces, store) }

    func load(_ section: IndexSection, _ bytes: Range<Int>) -> Bool {
        pieces.load(SnapshotSection.index(section), bytes)
    }

    /// Loads where a point's feature lies in the text. The features are in the points' order.
    func load(_ point: PointIndex) -> Bool {
        let feature = Int(point.rawValue)
        guard feature < store.count else { return false }
        let (blockStarts, offsets) = store.placeBytes(of: feature)
        return pieces.load(SnapshotSection.blockStarts, blockStarts)
            && pieces.load(SnapshotSection.offsets, offsets) && store.isSound(feature)
    }
}
