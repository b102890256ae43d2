// SPDX-License-Identifier: MIT
import Glibc
import JSON
import SystemSupport

/// Synthetic features for tests at scale: the same for the same kind, count and seed.
public struct SyntheticPoints {
    public enum Kind: String, CaseIterable, Sendable {
        /// Evenly over the map.
        case uniform
        /// Round towns of very unequal sizes, like real settlements.
        case gathered
        /// Half of them at a few awkward locations (poles, antimeridian), the rest on a coarse grid.
        case duplicates
    }

    private struct Town {
        let longitude, latitude, spread: Double
    }

    static let categories: [StaticString] = ["school", "cafe", "hospital", "fuel", "hotel", "museum"]
    private static let townCount = 2000
    /// Locations where implementations fail: the antimeridian, the poles, the edge of the Mercator square.
    private static let awkwardPositions: [(Double, Double)] = [
        (-180, 0), (180, 0), (0, 90), (0, -90), (179.999999, 45), (-179.999999, 45), (0, 85.0511287798), (12.5, 41.9),
    ]

    let kind: Kind
    private var random: SplitMix
    private let towns: [Town]
    /// Cumulative sums of the towns' weights. The last one is the total.
    private let townShares: [Double]

    public init(kind: Kind, seed: UInt64) {
        self.kind = kind
        var random = SplitMix(seed: seed)
        towns = (0..<Self.townCount).map { _ in
            let (longitude, latitude) = (random.number(in: -170...170), random.number(in: -55...70))
            return Town(longitude: longitude, latitude: latitude, spread: 0.02 + 2 * pow(random.unit(), 4))
        }
        var sum = 0.0
        townShares = (0..<Self.townCount).map { position in
            sum += 1 / Double(position + 3)
            return sum
        }
        self.random = random
    }

    /// Appends the next feature's text.
    public mutating func write(_ index: Int, into writer: inout ByteWriter) {
        let (longitude, latitude) = nextPosition()
        writer.append("{\"type\":\"Feature\",\"id\":")
        writer.append(integer: index)
        writer.append(",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        writer.append(number: longitude.rounded(decimals: 7))
        writer.append(",")
        writer.append(number: latitude.rounded(decimals: 7))
        writer.append("]},\"properties\":{\"name\":\"place ")
        writer.append(integer: index)
        writer.append("\",\"category\":\"")
        writer.append(Self.categories[random.integer(below: Self.categories.count)])
        writer.append("\",\"value\":")
        writer.append(integer: random.integer(below: 1000))
        writer.append(",\"score\":")
        writer.append(number: (random.unit() * 10).rounded(decimals: 3))
        writer.append("}}")
    }

    private mutating func nextPosition() -> (longitude: Double, latitude: Double) {
        switch kind {
        case .uniform: return (random.number(in: -180...180), random.number(in: -80...80))
        case .gathered:
            let town = towns[pickTown()]
            let longitude = town.longitude + random.gaussian() * town.spread
            let latitude = town.latitude + random.gaussian() * town.spread
            return (max(-180, min(180, longitude)), max(-84, min(84, latitude)))
        case .duplicates:
            if random.unit() < 0.5 {
                return Self.awkwardPositions[random.integer(below: Self.awkwardPositions.count)]
            }
            return (Double(random.integer(below: 40) - 20) / 7, Double(random.integer(below: 40) - 20) / 7)
        }
    }

    /// The index of a town, chosen by weight.
    private mutating func pickTown() -> Int {
        let target = random.unit() * (townShares.last ?? 0)
        return townShares.dropLast().partitionIndex { $0 <= target }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, and the same everywhere for the same seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    private var spareGaussian: Double?

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in [0, 1).
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// A number in [0, bound). `bound` is at least 1.
    mutating func integer(below bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A standard normal number (Box and Muller, which produces pairs).
    mutating func gaussian() -> Double {
        if let spare = spareGaussian {
            spareGaussian = nil
            return spare
        }
        let radius = sqrt(-2 * log(1 - unit()))
        let angle = 2 * Double.pi * unit()
        spareGaussian = radius * sin(angle)
        return radius * cos(angle)
    }
}
