// SPDX-License-Identifier: MIT
import Expressions

/// Up to four properties' numbers folded at once: a point's lie together, so that the way through the tree, which
/// waits for memory most, is gone once and not for each.
struct NumberLanes {
    typealias Lanes = SIMD4<Double>
    static let most = Lanes.scalarCount

    private var products = SIMDMask<SIMD4<Int64>>(repeating: false)
    private var greatest = SIMDMask<SIMD4<Int64>>(repeating: false)
    private var least = SIMDMask<SIMD4<Int64>>(repeating: false)

    /// - Parameter operators: at most four, numeric ones.
    init(_ operators: [ClusterProperty.Operator]) {
        for (lane, simple) in operators.prefix(Self.most).enumerated() {
            products[lane] = simple == .product
            greatest[lane] = simple == .greatest
            least[lane] = simple == .least
        }
    }

    /// Points' values side by side; lanes without a property have 0.
    static func lanes(_ columns: [[Double]], threads: Int) -> [Lanes] {
        guard let first = columns.first else { return [] }
        let (second, third, fourth) = (
            columns.count > 1 ? columns[1] : first, columns.count > 2 ? columns[2] : first,
            columns.count > 3 ? columns[3] : first
        )
        let used = Lanes(0, 1, 2, 3) .< Double(columns.count)
        return ParallelArray.make(count: first.count, threads: threads) { place in
            let lanes = Lanes(first[place], second[place], third[place], fourth[place])
            return Lanes.zero.replacing(with: lanes, where: used)
        }
    }

    /// Folds numbers of which some may be null, which not a number stands for: as `foldNumbers` does, lane by lane.
    @inline(__always) func fold(_ a: Lanes, _ b: Lanes) -> Lanes {
        var folded = a + b
        folded.replace(with: a * b, where: products)
        folded.replace(with: a.replacing(with: b, where: a .< b), where: greatest)
        folded.replace(with: a.replacing(with: b, where: b .< a), where: least)
        return folded.replacing(with: .nan, where: (a .!= a) .| (b .!= b))
    }
}
