// SPDX-License-Identifier: MIT
import PostgresFeed
import SourceEngine

/// What a feed has delivered and a source must apply, in the feed's order.
enum TableStep {
    case endOfCopy(CopyEnd, FeatureImport)
    case transaction(FeedTransaction)
    /// A position to store although nothing changed, or together with the copy that has become visible.
    case mark(FeedPosition)

    var transaction: FeedTransaction? {
        if case .transaction(let transaction) = self { transaction } else { nil }
    }

    var isTransaction: Bool { transaction != nil }
}
