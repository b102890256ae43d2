// SPDX-License-Identifier: MIT

extension LevelList {
    /// Whether windows contain so many nodes, judged by a sample, that `CrowdedClaims` is cheaper than lists of neighbours.
    func isCrowded(_ radius: LevelRadius<Scalar>) -> Bool {
        let step = max(1, count / 1024)
        let span = rowSpan
        var visited = 0
        var samples = 0
        var position = step / 2
        while position < count {
            let entry = entries[position]
            var candidate = position + 1
            // One side of one of three rows: a sixth of what a sweep would visit. Later rows may have nodes at the same x.
            let end = min(count, position + 4096)
            while candidate < end, entries[candidate].x >= entry.x,
                entries[candidate].x <= entry.x + radius.reach, entries[candidate].y <= entry.y + span
            {
                candidate += 1
            }
            visited += candidate - position - 1
            samples += 1
            position += step
        }
        return 6 * visited > samples * NeighbourSweep<Scalar>.crowded / 2
    }
}
