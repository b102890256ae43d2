// SPDX-License-Identifier: MIT
import CPrefetch
import Synchronization
import SystemSupport

/// A level's claimed nodes, grouped by claimant: the groups that may become clusters.
///
/// Scratch arrays are indexed by position in the level's list and are restored after use, so that a level's cost
/// depends on its claims and not on its nodes.
final class ClaimGroups {
    /// Positions of the claimants, in any order, in as many lists as there were candidate lists.
    private(set) var claimants: [[UInt32]] = []
    private let sizes: Scratch<UInt32>
    private let ends: Scratch<UInt32>
    private let members: Scratch<UInt32>
    private let parallel: Parallel

    init(capacity: Int, parallel: Parallel) {
        sizes = Scratch(capacity: capacity)
        parallel.fill(sizes.base, count: capacity, with: 0)
        ends = Scratch(capacity: capacity)
        members = Scratch(atMost: capacity)
        self.parallel = parallel
    }

    /// Positions of nodes that may be claimed, as found by one of several threads.
    typealias Candidates = UnsafeBufferPointer<UInt32>

    /// Gathers the groups of a level.
    ///
    /// - Parameter candidates: positions, each once; those of nodes that are not claimed are ignored.
    func gather(_ candidates: [Candidates], claimantOf: Scratch<UInt32>, states: Scratch<UInt8>) {
        clear()
        claimants.removeLast(max(0, claimants.count - candidates.count))
        while claimants.count < candidates.count { claimants.append([]) }
        inLists { list, claimants in
            // The memory of the level before, which had more.
            claimants.removeAll(keepingCapacity: true)
            for position in candidates[list] where states.base[Int(position)] == ClaimState.claimed {
                let claimant = claimantOf.base[Int(position)]
                let before = self.sizes.atomic(Int(claimant)).pointee.add(1, ordering: .relaxed).oldValue
                if before == 0 { claimants.append(claimant) }
            }
        }
        let given = Atomic<UInt32>(0)
        inLists { _, claimants in
            let size = claimants.reduce(UInt32(0)) { $0 &+ self.sizes.base[Int($1)] }
            var start = given.add(size, ordering: .relaxed).oldValue
            for claimant in claimants {
                self.ends.base[Int(claimant)] = start
                start &+= self.sizes.base[Int(claimant)]
            }
        }
        inLists { list, _ in
            for position in candidates[list] where states.base[Int(position)] == ClaimState.claimed {
                let claimant = Int(claimantOf.base[Int(position)])
                let index = self.ends.atomic(claimant).pointee.add(1, ordering: .relaxed).oldValue
                self.members.base[Int(index)] = position
            }
        }
    }

    var isEmpty: Bool { claimants.allSatisfy(\.isEmpty) }

    /// The positions of the nodes that a claimant claimed.
    @inline(__always) func members(of claimant: UInt32) -> UnsafeMutableBufferPointer<UInt32> {
        let size = Int(sizes.base[Int(claimant)])
        let end = Int(ends.base[Int(claimant)])
        return UnsafeMutableBufferPointer(start: members.base + (end - size), count: size)
    }

    /// Fetches memory that `members(of:)` will need.
    @inline(__always) func fetch(_ claimant: UInt32) {
        clusterd_prefetch(sizes.base + Int(claimant))
        clusterd_prefetch(ends.base + Int(claimant))
    }

    @inline(__always) func size(of claimant: UInt32) -> Int { Int(sizes.base[Int(claimant)]) }

    /// Removes the last level's groups, and releases memory that levels of at most `count` nodes do not need.
    func releaseUnneeded(count: Int) {
        clear()
        claimants = []
        for column in [sizes, ends, members] { column.release(after: count) }
    }

    private func clear() {
        inLists { _, claimants in
            for claimant in claimants { self.sizes.base[Int(claimant)] = 0 }
        }
    }

    /// Calls `body` concurrently for each list of claimants, which only that call may change.
    private func inLists(_ body: (Int, inout [UInt32]) -> Void) {
        claimants.withUnsafeMutableBufferPointer { buffer in
            let lists = Unchecked(buffer)
            parallel.run(buffer.count) { list in
                // A variable of this thread: the lists lie next to each other.
                var claimants: [UInt32] = []
                swap(&claimants, &lists.value[list])
                body(list, &claimants)
                swap(&claimants, &lists.value[list])
            }
        }
    }
}
