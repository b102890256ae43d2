// SPDX-License-Identifier: MIT
import Answers

/// What the client of a watched viewport has.
package enum WatchTable: Sendable {
    /// Markers that are known by what they show.
    case markers(MarkerTable)
    /// Markers that are known by the features that they grew from.
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
