// SPDX-License-Identifier: MIT
import SystemSupport

/// Turns each pending node's chain of earlier neighbours into its state and its claimant.
///
/// A node's outcome follows from those of its earlier neighbours alone. So threads need not wait for each other:
/// two threads that resolve the same node find the same outcome, and both write it.
struct ClaimResolver<Scalar: Coordinate> {
    let list: LevelList<Scalar>
    let heads: Scratch<UInt32>
    let states: Scratch<UInt8>
    /// The claimant's position, by position of the claimed node.
    let claimants: Scratch<UInt32>

    /// Resolves all shares. Stops if the build is cancelled.
    func run(_ sweep: NeighbourSweep<Scalar>, parallel: Parallel) {
        // Pointers instead of objects, so that threads do not contend for the objects' reference counts.
        let (pending, links) = (sweep.pending(in: list), sweep.pool.links)
        parallel.run(pending.count) { share in
            var stack: [UInt32] = []
            let pending = pending[share]
            for item in pending.indices {
                if parallel.stops(at: item) { return }
                resolve(pending[item], links, &stack)
            }
        }
        withExtendedLifetime(sweep) {}
    }

    /// Finds the state of one node and of all nodes on which it depends. It uses an explicit stack instead of
    /// recursion, because chains of neighbours may be as long as the level.
    @inline(__always) private func resolve(_ position: UInt32, _ links: LinkPool.Links, _ stack: inout [UInt32]) {
        guard state(position) == ClaimState.pending else { return }
        var top = position
        while true {
            guard let other = settle(top, by: links) else {
                guard let next = stack.popLast() else { return }
                top = next
                continue
            }
            stack.append(top)
            top = other
        }
    }

    /// Determines a node's state, or returns an earlier neighbour whose state must be determined first.
    @inline(__always) private func settle(_ position: UInt32, by links: LinkPool.Links) -> UInt32? {
        let entries = list.entries
        var first = NodeNumber.none
        var link = heads.base[Int(position)]
        while link != NeighbourLink.none {
            let (other, next) = (links[link].earlier, links[link].next)
            link = next
            switch state(other) {
            case ClaimState.unclaimed:
                if first == NodeNumber.none || entries[Int(other)].order < entries[Int(first)].order {
                    first = other
                }
            case ClaimState.claimed: continue
            default: return other
            }
        }
        if first == NodeNumber.none {
            states.atomic(Int(position)).pointee.store(ClaimState.unclaimed, ordering: .releasing)
        } else {
            claimants.atomic(Int(position)).pointee.store(first, ordering: .relaxed)
            states.atomic(Int(position)).pointee.store(ClaimState.claimed, ordering: .releasing)
        }
        return nil
    }

    @inline(__always) private func state(_ position: UInt32) -> UInt8 {
        states.atomic(Int(position)).pointee.load(ordering: .acquiring)
    }
}
