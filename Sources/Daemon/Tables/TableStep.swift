// SPDX-License-Identifier: MIT
import PostgresFeed
import Sources

/// What a feed has delivered and a source has to take over, in the feed's order.
enum TableStep {
    /// Rows of a copy.
    case piece(CopyPiece, FeatureImport)
    case endOfCopy(CopyEnd, FeatureImport)
    case transaction(FeedTransaction)
    /// A position that is to be kept although nothing changed.
    case mark(FeedPosition)

    var isTransaction: Bool {
        if case .transaction = self { true } else { false }
    }
}
