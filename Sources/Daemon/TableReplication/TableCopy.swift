// SPDX-License-Identifier: MIT
import EventLoop
import GeoJSON
import PostgresFeed
import SourceEngine

/// A copy of a table in progress. Belongs to the loop's thread.
final class TableCopy {
    let features: FeatureImport
    /// Pieces delivered by the feed and not passed to the pool.
    var pieces: [CopyPiece] = []
    /// The index of the next piece that is passed to the pool.
    var next = 0

    init(into source: Source) {
        features = FeatureImport(into: source, mode: .replace, policy: .skip, allowsEmpty: true)
    }

    func cancel() {
        pieces = []
        features.cancel()
    }
}

extension TableFollower {
    /// Reads pieces of the copy on all cores that imports may use.
    func readPieces() {
        let threads = max(1, threads)
        while let copy, let piece = copy.pieces.first, piecesInWork < threads,
            copy.next - copy.features.takenPieces < 2 * threads
        {
            copy.pieces.removeFirst()
            read(piece, copy.next, copy)
            copy.next += 1
        }
    }

    private func read(_ piece: CopyPiece, _ number: Int, _ copy: TableCopy) {
        let (features, outcome) = (copy.features, Outcome<CopyCount>())
        piecesInWork += 1
        loop.work {
            outcome.result = Result { () throws(TableJob.Failure) in
                try TableJob.gather(piece, number, into: features)
            }
        } completion: { [self] in
            piecesInWork -= 1
            guard !ending.isEnding else { return endWhenIdle() }
            if self.copy === copy {
                switch outcome.result {
                case .success(let count)?: feed?.take(count)
                case .failure(let failure)?: copyLater(failure)
                case nil: break
                }
            }
            readPieces()
        }
    }
}
