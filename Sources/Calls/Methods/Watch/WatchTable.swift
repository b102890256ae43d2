// SPDX-License-Identifier: MIT
import Answers

/// The features that the client of a watched viewport has.
package enum WatchTable: Sendable {
    /// Markers identified by what they show.
    case markers(MarkerTable)
    /// Markers identified by the feature from which they grew.
    case transitions(ShownMarkers)

    /// What a client has before the first item.
    package init(hasTransitions: Bool) {
        self = hasTransitions ? .transitions(ShownMarkers()) : .markers(MarkerTable())
    }

    package var count: Int {
        switch self {
        case .markers(let table): table.count
        case .transitions(let shown): shown.count
        }
    }
}
