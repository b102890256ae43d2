// SPDX-License-Identifier: MIT
import Expressions
import JSON

/// How long one core takes to run a filter over a million features whose columns are decoded, beside the same
/// test on a dictionary a feature.
func benchmarkFilter() throws {
    let count = 1_000_000
    let names = ["school", "cafe", "hospital", "fuel", "hotel", "museum"]
    var random = SystemRandomNumberGenerator()
    var numbers = PropertyColumnWriter(rows: count)
    var categories = PropertyColumnWriter(rows: count)
    var features: [[String: JSONValue]] = []
    for _ in 0..<count {
        let value = Double(Int.random(in: 0..<1000, using: &random))
        let category = names.randomElement(using: &random) ?? ""
        numbers.append(value)
        categories.append(.string(category))
        features.append(["value": .number(value), "category": .string(category)])
    }
    var columns = FeatureColumns(count: count)
    columns.add("value", numbers.finish())
    columns.add("category", categories.finish())
    let text = #"["all",[">=",["get","value"],500],["==",["get","category"],"cafe"]]"#
    let filter = try Expression(compiling: JSONReader.parse(text), purpose: .filter)
    let rows = RowSource(columns: columns, rows: Array(0..<UInt32(count)))
    var passing = 0
    let columnar = Stopwatch.sample(7) { _ in passing = (try? filter.passing(rows))?.count ?? 0 }
    var passingWalk = 0
    let walk = Stopwatch.sample(3) { _ in
        passingWalk = features.count { feature in
            guard case .number(let value)? = feature["value"], value >= 500,
                case .string(let category)? = feature["category"]
            else { return false }
            return category == "cafe"
        }
    }
    guard passing == passingWalk else { return report("error: the filters differ", 0, "") }
    report("filter over 1,000,000 features, columns", columnar.median / 1e6, "ms")
    report("the same test on a dictionary a feature, compiled by hand", walk.median / 1e6, "ms")
}
