// SPDX-License-Identifier: MIT

/// Turns each pending node's chain of earlier neighbours into its state and its claimant.
///
/// A node's outcome follows from those of its earlier neighbours alone. So threads need not wait for each other:
/// two threads that resolve the same node find the same outcome, and both write it.
struct ClaimResolver<Scalar: Coordinate> {
    typealias Link = NeighbourSweep<Scalar>.Link

    let list: LevelList<Scalar>
    let heads: Scratch<UInt32>
    let states: Scratch<UInt8>
    /// The claimant's position, by position of the claimed node.
    let claimants: Scratch<UInt32>

    /// Resolves all shares. Stops if the build is cancelled.
    func run(_ sweep: NeighbourSweep<Scalar>, parallel: Parallel) {
        let shares = sweep.shareCount
        // Pointers instead of objects, so that threads do not contend for the objects' reference counts.
        let found = sweep.found.prefix(shares).map {
            (links: UnsafePointer($0.links.base), pending: UnsafePointer($0.pending.base), $0.pendingCount)
        }
        let links = found.map(\.links)
        links.withUnsafeBufferPointer { links in
            parallel.run(shares) { index in
                var stack: [UInt32] = []
                let (_, pending, count) = found[index]
                let own = Parallel.bounds(index, of: shares, count: list.count)
                for item in 0..<count {
                    if parallel.stops(at: item) { return }
                    resolve(pending[item], index, own.start..<own.end, links, &stack)
                }
            }
        }
        withExtendedLifetime(sweep) {}
    }

    /// Finds the state of one node and of all nodes on which it depends. It uses an explicit stack instead of
    /// recursion, because chains of neighbours may be as long as the level.
    ///
    /// - Parameters:
    ///   - share: the share that works on the node. Its positions are `own`.
    ///   - links: by share.
    @inline(__always) private func resolve(
        _ position: UInt32, _ share: Int, _ own: Range<Int>,
        _ links: UnsafeBufferPointer<UnsafePointer<Link>>,
        _ stack: inout [UInt32]
    ) {
        guard state(position) == ClaimState.pending else { return }
        var top = position
        while true {
            let isOwn = own.contains(Int(top))
            let holder = isOwn ? share : Parallel.share(of: Int(top), of: links.count, count: list.count)
            guard let other = settle(top, by: links[holder]) else {
                guard let next = stack.popLast() else { return }
                top = next
                continue
            }
            stack.append(top)
            top = other
        }
    }

    /// Determines a node's state, or returns an earlier neighbour whose state must be determined first.
    @inline(__always) private func settle(
        _ position: UInt32, by links: UnsafePointer<Link>
    ) -> UInt32? {
        let entries = list.entries
        var first = NodeNumber.none
        var link = heads.base[Int(position)]
        while link != NeighbourSweep<Scalar>.noLink {
            let (other, next) = (links[Int(link)].earlier, links[Int(link)].next)
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
