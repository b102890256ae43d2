// SPDX-License-Identifier: MIT
import Foundation

/// The points that the golden records are of: `u` uniform, `c` gathered round places of very unequal size,
/// `d` full of duplicates and edges.
enum GoldenPoints {
    private static let categories = ["school", "cafe", "hospital", "fuel", "hotel", "museum"]
    private static let edges: [(Double, Double)] = [
        (-180, 0), (180, 0), (0, 90), (0, -90), (179.999999, 45), (-179.999999, 45), (0, 85.0511287798),
        (12.5, 41.9),
    ]

    /// The text of a JSON array of features, ids from 0.
    static func json(kind: String, count: Int, seed: UInt32) -> String {
        var random = MersenneTwister(seed: seed)
        let towns = (0..<2000).map { _ in
            (
                x: random.uniform(-170, 170), y: random.uniform(-55, 70),
                spread: 0.02 + 2 * pow(random.random(), 4)
            )
        }
        let weights = towns.indices.map { 1 / Double($0 + 3) }
        let chosen = kind == "c" ? random.choices(weights: weights, count: count) : []
        let features = (0..<count).map { i in
            let place: (Double, Double)
            switch kind {
            case "u": place = (random.uniform(-180, 180), random.uniform(-80, 80))
            case "c":
                let town = towns[chosen[i]]
                let x = town.x + random.gauss(0, town.spread)
                place = (x, max(-84, min(84, town.y + random.gauss(0, town.spread))))
            default: place = odd(&random)
            }
            return feature(i, place, &random)
        }
        return "[" + features.joined(separator: ",") + "]"
    }

    private static func odd(_ random: inout MersenneTwister) -> (Double, Double) {
        if random.random() < 0.5 { return edges[random.below(edges.count)] }
        let x = Double(random.below(40) - 20) / 7
        return (x, Double(random.below(40) - 20) / 7)
    }

    private static func feature(
        _ id: Int, _ place: (Double, Double), _ random: inout MersenneTwister
    ) -> String {
        let category = categories[random.below(6)]
        let value = random.below(1000)
        let score = String(format: "%.3f", random.random() * 10)
        let (x, y) = (String(format: "%.7f", place.0), String(format: "%.7f", place.1))
        return """
            {"type":"Feature","id":\(id),"geometry":{"type":"Point","coordinates":[\(x),\(y)]},\
            "properties":{"name":"place \(id)","category":"\(category)","value":\(value),"score":\(score)}}
            """
    }
}
