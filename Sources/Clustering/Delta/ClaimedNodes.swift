// SPDX-License-Identifier: MIT

/// For each claimant, the visited nodes that it claims: lists in one block of memory.
struct ClaimedNodes {
    private var heads: NumberMap
    private var links: [(key: UInt32, next: UInt32)] = []

    init<Scalar>(_ level: GreedyPassUpdate<Scalar>) {
        heads = NumberMap(capacity: level.visits.count)
        for visit in level.visits {
            guard case .claimed(let claimant) = visit.new else { continue }
            let next = heads[claimant.rawValue] ?? .max
            heads.set(claimant.rawValue, UInt32(truncatingIfNeeded: links.count))
            links.append((visit.key.rawValue, next))
        }
    }

    func forEach(of claimant: UInt32, _ body: (UInt32) -> Void) {
        var place = heads[claimant] ?? .max
        while place != .max {
            body(links[Int(place)].key)
            place = links[Int(place)].next
        }
    }
}
