// SPDX-License-Identifier: MIT
import PostgresFeed
import Sources

/// What a feed has delivered and a source has to take over, in the feed's order.
enum TableStep {
    case endOfCopy(CopyEnd, FeatureImport)
    case transaction(FeedTransaction)
    /// A position that is to be kept although nothing changed, or with the copy that has become visible.
    case mark(FeedPosition)

    var isTransaction: Bool {
        if case .transaction = self { true } else { false }
    }
}
