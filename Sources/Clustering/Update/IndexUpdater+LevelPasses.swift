// SPDX-License-Identifier: MIT
import SystemSupport

/// The passes of the levels in memory. These need nothing of what the passes before them changed in the index, so
/// another thread makes these changes meanwhile.
extension IndexUpdater {
    /// Follows the changes through the levels in memory; returns false once the budget is spent.
    ///
    /// - Parameter count: that of the changes: few are not worth another thread.
    mutating func passLevels(_ count: Int) -> Bool {
        var passes = LevelPasses(levels: levels, former: former, ordinal: layers.clusterLimit, budget: budget)
        defer { budget = passes.budget }
        let zooms = stride(from: levels.deepest - 1, to: layers.options.minimumZoom - 1, by: -1)
        guard parallel.threads > 1, count >= Self.smallestShare else {
            for zoom in zooms {
                guard let outcome = passes.run(zoom) else { return false }
                commit(outcome, zoom)
            }
            return true
        }
        let outcomes = Handover<(zoom: Int, outcome: LevelPass<Scalar>.Outcome)>()
        var isDone = false
        parallel.run(2) { part, _ in
            guard part == 0 else { return outcomes.forEach { commit($0.outcome, $0.zoom) } }
            defer { outcomes.end() }
            for zoom in zooms {
                guard let outcome = passes.run(zoom) else { return }
                outcomes.send((zoom, outcome))
            }
            isDone = true
        }
        return isDone
    }

    /// Makes a pass's changes in the index.
    private mutating func commit(_ outcome: LevelPass<Scalar>.Outcome, _ zoom: Int) {
        for node in outcome.arrived.dropLast(outcome.plans.count) { layers.setParent(NodeNumber.none, of: node.key) }
        layers.remove(clusters: outcome.dying)
        make(outcome, zoom)
        layers.hide(outcome.departed, show: outcome.arrived.map(\.shown), at: zoom...zoom)
    }
}

/// Passes of levels in memory, from the deepest upwards.
private struct LevelPasses<Scalar: Coordinate> {
    let levels: UpdatedLevels<Scalar>
    /// The index before the changes.
    let former: LayeredIndex
    /// That of the next cluster.
    var ordinal: Int
    /// The number of nodes that may still be visited.
    var budget: Int

    /// Returns what the changes of a level change in the next, which has them then if it is in memory; nil once the budget is
    /// spent.
    mutating func run(_ zoom: Int) -> LevelPass<Scalar>.Outcome? {
        guard let nodes = levels.take(zoom + 1) else { return nil }
        guard nodes.isChanged else {
            levels.put(nodes, zoom + 1)
            return LevelPass<Scalar>.Outcome(departed: [])
        }
        var pass = LevelPass(nodes, former, zoom: zoom)
        guard let visits = pass.run(budget: budget) else { return nil }
        budget -= visits
        let outcome = pass.outcome(ordinal)
        ordinal += outcome.plans.count
        levels.put(pass.finish(), zoom + 1)
        if var next = levels.take(zoom) {
            next.remove(outcome.departed, areNoted: true)
            next.insert(outcome.arrived)
            levels.put(next, zoom)
        }
        return outcome
    }
}
