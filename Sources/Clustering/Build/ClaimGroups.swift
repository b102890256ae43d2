// SPDX-License-Identifier: MIT

/// A level's claimed nodes, gathered by claimant: the groups that may become clusters.
///
/// Scratch arrays are by position in the level's list and are left as they were found, so that a level's
/// cost follows its claims and not its nodes.
final class ClaimGroups {
    /// Positions of the claimants.
    private(set) var claimants: [UInt32] = []
    private let sizes: Scratch<UInt32>
    private let ends: Scratch<UInt32>
    private let members: Scratch<UInt32>

    init(capacity: Int) {
        sizes = Scratch(repeating: 0, count: capacity)
        ends = Scratch(capacity: capacity)
        members = Scratch(capacity: capacity)
    }

    /// Gathers the groups of a level. `forEachClaimed` calls its argument with every claimed node's position.
    func gather(
        claimantOf: UnsafePointer<UInt32>, forEachClaimed: ((UInt32) -> Void) -> Void
    ) {
        clear()
        forEachClaimed { position in
            let claimant = claimantOf[Int(position)]
            if sizes.base[Int(claimant)] == 0 { claimants.append(claimant) }
            sizes.base[Int(claimant)] &+= 1
        }
        var start: UInt32 = 0
        for claimant in claimants {
            ends.base[Int(claimant)] = start
            start &+= sizes.base[Int(claimant)]
        }
        forEachClaimed { position in
            let claimant = Int(claimantOf[Int(position)])
            members.base[Int(ends.base[claimant])] = position
            ends.base[claimant] &+= 1
        }
    }

    /// The positions of the nodes that a claimant claimed.
    @inline(__always) func members(of claimant: UInt32) -> UnsafeMutableBufferPointer<UInt32> {
        let size = Int(sizes.base[Int(claimant)])
        let end = Int(ends.base[Int(claimant)])
        return UnsafeMutableBufferPointer(start: members.base + (end - size), count: size)
    }

    @inline(__always) func size(of claimant: UInt32) -> Int { Int(sizes.base[Int(claimant)]) }

    private func clear() {
        for claimant in claimants { sizes.base[Int(claimant)] = 0 }
        claimants.removeAll(keepingCapacity: true)
    }
}
