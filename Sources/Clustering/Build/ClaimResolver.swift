// SPDX-License-Identifier: MIT

/// Turns each pending node's list of earlier neighbours into its fate and its claimant.
struct ClaimResolver {
    let earlierStarts: UnsafePointer<UInt32>
    let fates: UnsafeMutablePointer<UInt8>
    /// By position, of claimed nodes: the position of the claimant.
    let claimants: UnsafeMutablePointer<UInt32>

    /// Resolves all shares, side by side as far as no node waits for another share, then the rest.
    func run<Scalar>(_ sweep: NeighbourSweep<Scalar>, parallel: Parallel) {
        let found = sweep.found
        let shares = found.count
        parallel.run(shares) { index in
            var stack: [UInt32] = []
            let share = found[index]
            for item in 0..<share.pendingCount {
                resolve(share.pending.base[item], within: share.range, found, &stack)
            }
        }
        guard shares > 1 else { return }
        var stack: [UInt32] = []
        let whole = 0..<Int.max
        for share in found {
            for item in 0..<share.pendingCount {
                let position = share.pending.base[item]
                if fates[Int(position)] == Fate.deferred { fates[Int(position)] = Fate.pending }
            }
        }
        for share in found {
            for item in 0..<share.pendingCount {
                resolve(share.pending.base[item], within: whole, found, &stack)
            }
        }
    }

    /// Finds the fate of one node and of all that it waits for, by a stack of its own, since chains of
    /// neighbours may be as long as the level.
    @inline(__always) private func resolve<Scalar>(
        _ position: UInt32, within range: Range<Int>, _ found: [NeighbourSweep<Scalar>.Found],
        _ stack: inout [UInt32]
    ) {
        guard fates[Int(position)] == Fate.pending else { return }
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
                fates[Int(top)] = Fate.deferred
                for waiting in stack { fates[Int(waiting)] = Fate.deferred }
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

    @inline(__always) private func step<Scalar>(
        _ position: Int, within range: Range<Int>, _ found: [NeighbourSweep<Scalar>.Found]
    ) -> Step {
        guard let list = earlier(of: position, found) else { return .settled }
        let count = Int(list[0])
        for item in 1...count {
            let other = list[item]
            // Another share's fates may be changing at this moment; they must not be looked at.
            if !range.contains(Int(other)) { return .leaves }
            switch fates[Int(other)] {
            case Fate.free:
                claimants[position] = other
                fates[position] = Fate.claimed
                return .settled
            case Fate.claimed: continue
            case Fate.deferred: return .leaves
            default: return .waits(other)
            }
        }
        fates[position] = Fate.free
        return .settled
    }

    @inline(__always) private func earlier<Scalar>(
        of position: Int, _ found: [NeighbourSweep<Scalar>.Found]
    ) -> UnsafeMutablePointer<UInt32>? {
        for share in found where share.range.contains(position) {
            return share.earlier.base + Int(earlierStarts[position])
        }
        return nil
    }
}
