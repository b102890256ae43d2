// SPDX-License-Identifier: MIT
import Synchronization

/// How often updates could follow their changes, and how often they had to cluster everything anew.
final class UpdateCounts: Sendable {
    private let followed = Atomic<Int>(0)
    private let rebuilt = Atomic<Int>(0)

    func count(isFollowed: Bool) {
        if isFollowed {
            followed.add(1, ordering: .relaxed)
        } else {
            rebuilt.add(1, ordering: .relaxed)
        }
    }

    var values: (followed: Int, rebuilt: Int) {
        (followed.load(ordering: .relaxed), rebuilt.load(ordering: .relaxed))
    }
}
