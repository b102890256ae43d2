// SPDX-License-Identifier: MIT
import Foundation

/// The synthetic points that the golden answers are about.
public struct GoldenPoint: Sendable {
    public var id: Int
    public var longitude: Double
    public var latitude: Double
    public var category: String
    public var value: Int
    public var score: Double

    /// The point as a GeoJSON feature's text.
    public var feature: String {
        #"{"type":"Feature","id":\#(id),"geometry":{"type":"Point","coordinates":[\#(longitude),\#(latitude)]},"properties":{"name":"place \#(id)","category":"\#(category)","value":\#(value),"score":\#(score)}}"#
    }
}

/// Makes them: `u` uniform, `c` gathered round places of very unequal size, `d` full of duplicates and edges;
/// the same for the same seed, here and in Python.
public enum GoldenDataset {
    private static let categories = ["school", "cafe", "hospital", "fuel", "hotel", "museum"]
    private static let edges: [(Double, Double)] = [
        (-180, 0), (180, 0), (0, 90), (0, -90), (179.999999, 45), (-179.999999, 45), (0, 85.0511287798), (12.5, 41.9),
    ]

    public static func points(kind: String, count: Int, seed: UInt32) -> [GoldenPoint] {
        var random = PythonRandom(seed: seed)
        let towns = (0..<2000).map { _ in
            (x: random.uniform(-170, 170), y: random.uniform(-55, 70), spread: 0.02 + 2 * pow(random.random(), 4))
        }
        let weights = towns.indices.map { 1 / Double($0 + 3) }
        let chosen = kind == "c" ? random.choices(weights: weights, count: count) : []
        return (0..<count).map { index in
            var (x, y) = (0.0, 0.0)
            switch kind {
            case "u":
                x = random.uniform(-180, 180)
                y = random.uniform(-80, 80)
            case "c":
                let town = towns[chosen[index]]
                x = town.x + random.gauss(0, town.spread)
                y = max(-84, min(84, town.y + random.gauss(0, town.spread)))
            default:
                if random.random() < 0.5 {
                    (x, y) = edges[random.randrange(edges.count)]
                } else {
                    x = Double(random.randrange(40) - 20) / 7
                    y = Double(random.randrange(40) - 20) / 7
                }
            }
            let category = categories[random.randrange(6)]
            let value = random.randrange(1000)
            return GoldenPoint(
                id: index, longitude: rounded(x, 7), latitude: rounded(y, 7), category: category, value: value,
                score: rounded(random.random() * 10, 3))
        }
    }

    /// Python's `round`: the nearest decimal of the exact binary value.
    private static func rounded(_ value: Double, _ decimals: Int) -> Double {
        Double(String(format: "%.\(decimals)f", value)) ?? value
    }
}
