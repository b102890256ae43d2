// SPDX-License-Identifier: MIT

/// Turns each pending node's chain of earlier neighbours into its state and its claimant.
struct ClaimResolver<Scalar: Coordinate> {
    typealias Found = NeighbourSweep<Scalar>.Found

    let entries: UnsafeMutablePointer<LevelEntry<Scalar>>
    let heads: UnsafePointer<UInt32>
    let states: UnsafeMutablePointer<UInt8>
    /// By position, of claimed nodes: the position of the claimant.
    let claimants: UnsafeMutablePointer<UInt32>

    /// Resolves all shares, side by side as far as no node waits for another share, then the rest. Stops where
    /// nobody waits any more.
    func run(_ sweep: NeighbourSweep<Scalar>, parallel: Parallel) {
        let found = sweep.found
        let shares = found.count
        parallel.run(shares) { index in
            var stack: [UInt32] = []
            let share = found[index]
            for item in 0..<share.pendingCount {
                if parallel.stops(at: item) { return }
                resolve(share.pending.base[item], within: share.range, found, &stack)
            }
        }
        guard shares > 1 else { return }
        var stack: [UInt32] = []
        let whole = 0..<Int.max
        for share in found {
            for item in 0..<share.pendingCount {
                let position = share.pending.base[item]
                if states[Int(position)] == ClaimState.deferred { states[Int(position)] = ClaimState.pending }
            }
        }
        for share in found {
            for item in 0..<share.pendingCount {
                if parallel.stops(at: item) { return }
                resolve(share.pending.base[item], within: whole, found, &stack)
            }
        }
    }

    /// Finds the state of one node and of all that it waits for, by a stack of its own, since chains of
    /// neighbours may be as long as the level.
    @inline(__always) private func resolve(
        _ position: UInt32, within range: Range<Int>, _ found: [Found],
        _ stack: inout [UInt32]
    ) {
        guard states[Int(position)] == ClaimState.pending else { return }
        var top = position
        while true {
            switch step(Int(top), within: range, found) {
            case .settled:
                guard let next = stack.popLast() else { return }
                top = next
            case .waits(let other):
                stack.append(top)
                top = other
            case .leaves:
                states[Int(top)] = ClaimState.deferred
                for waiting in stack { states[Int(waiting)] = ClaimState.deferred }
                stack.removeAll(keepingCapacity: true)
                return
            }
        }
    }

    private enum Step {
        case settled
        case waits(UInt32)
        case leaves
    }

    @inline(__always) private func step(_ position: Int, within range: Range<Int>, _ found: [Found]) -> Step {
        guard let share = found.first(where: { $0.range.contains(position) }) else { return .settled }
        var first = NodeNumber.none
        var link = heads[position]
        while link != NeighbourSweep<Scalar>.noLink {
            let (other, next) = (share.links.base[Int(link)].earlier, share.links.base[Int(link)].next)
            link = next
            // Another share's states may be changing at this moment; they must not be looked at.
            if !range.contains(Int(other)) { return .leaves }
            switch states[Int(other)] {
            case ClaimState.unclaimed:
                if first == NodeNumber.none || entries[Int(other)].order < entries[Int(first)].order {
                    first = other
                }
            case ClaimState.claimed: continue
            case ClaimState.deferred: return .leaves
            default: return .waits(other)
            }
        }
        guard first != NodeNumber.none else {
            states[position] = ClaimState.unclaimed
            return .settled
        }
        claimants[position] = first
        states[position] = ClaimState.claimed
        return .settled
    }
}
