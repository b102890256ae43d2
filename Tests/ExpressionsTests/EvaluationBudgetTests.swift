// SPDX-License-Identifier: MIT
import JSON
import Synchronization
import Testing

@testable import Expressions

/// How much work an evaluation may take, and how soon it stops.
@Suite("Evaluation budget") struct EvaluationBudgetTests {
    /// A sum in which each of `depth` variables uses the one before it twice.
    private static func nestedVariables(_ depth: Int) -> String {
        (0..<depth).reduce(#"["get","n"]"#) { bound, level in
            #"["let","v\#(level)",\#(bound),["+",["var","v\#(level)"],["var","v\#(level)"]]]"#
        }
    }

    private func compile(_ text: String) throws -> Expressions.Expression {
        try Expression(compiling: JSONReader.parse(text), purpose: .evaluation)
    }

    private func columns(_ value: JSONValue, count: Int) -> FeatureColumns {
        var builder = PropertyColumnWriter(rows: count)
        for _ in 0..<count { builder.append(value) }
        var columns = FeatureColumns(count: count)
        columns.add("n", builder.finish())
        return columns
    }

    private func rows(_ value: JSONValue, count: Int, _ budget: EvaluationBudget) -> RowSource {
        RowSource(columns: columns(value, count: count), rows: Array(0..<UInt32(count)), budget: budget)
    }

    @Test("a variable is evaluated once for each row, however many others use it", arguments: [1, 19, 30])
    func variablesAreEvaluatedOnce(depth: Int) throws {
        let expression = try compile(Self.nestedVariables(depth))
        let budget = EvaluationBudget(steps: 4 * EvaluationBudget.portion)
        let value = try expression.evaluate(properties: ["n": .number(3)], budget: budget)
        #expect(value == .number(3 * Double(1 << depth)))
        let values = try expression.values(RowSource(columns: columns(.number(3), count: 5), rows: Array(0..<5)))
        #expect((0..<5).map { values.value($0) } == Array(repeating: value, count: 5))
    }

    @Test("a failing variable fails at each use, and only if it is used")
    func failingVariable() throws {
        let text =
            #"["let","v",["to-number",["get","n"]],["case",["has","n"],["+",["var","v"],["var","v"]],0]]"#
        let expression = try compile(text)
        #expect(try expression.evaluate(properties: [:]) == .number(0))
        #expect(try expression.evaluate(properties: ["n": .string("2")]) == .number(4))
        #expect(throws: EvaluationError("Could not convert \"x\" to number.")) {
            try expression.evaluate(properties: ["n": .string("x")])
        }
    }

    @Test("a variable's value is that of its own row") func variablesOfRows() throws {
        var builder = PropertyColumnWriter(rows: 3000)
        for number in 0..<3000 { builder.append(Double(number)) }
        var columns = FeatureColumns(count: 3000)
        columns.add("n", builder.finish())
        let expression = try compile(
            #"["let","v",["^",["get","n"],2],["-",["+",["var","v"],["var","v"]],["-",["var","v"],["get","n"]]]]"#)
        let values = try expression.values(RowSource(columns: columns, rows: Array(0..<3000)))
        for row in 0..<3000 { #expect(values.value(row) == .number(Double(row * row + row))) }
    }

    @Test("rows share one budget, and exceeding it is an error that names its size") func budgetIsShared() throws {
        let filter = try compile(#"["==",["^",["get","n"],2],9]"#)
        let enough = EvaluationBudget(steps: 100_000)
        #expect(try filter.passing(rows(.number(3), count: 5000, enough)).count == 5000)
        let budget = EvaluationBudget(steps: 10_000)
        #expect(throws: EvaluationStop.exhausted(steps: 10_000)) {
            try filter.passing(rows(.number(3), count: 5000, budget))
        }
        #expect(throws: EvaluationStop.exhausted(steps: 10_000)) {
            try filter.passing(rows(.number(3), count: 5000, budget))
        }
    }

    @Test("vectorized operations are charged too") func vectorsAreCharged() throws {
        let filter = try compile(#"["all",["<",["get","n"],5],[">",["get","n"],1]]"#)
        let budget = EvaluationBudget(steps: 2 * EvaluationBudget.portion)
        #expect(throws: EvaluationStop.exhausted(steps: 2 * EvaluationBudget.portion)) {
            try filter.passing(rows(.number(3), count: 100_000, budget))
        }
    }

    @Test(
        "an evaluation checks for cancellation within a row",
        arguments: [
            #"["+",\#(Array(repeating: #"["sqrt",["get","n"]]"#, count: 1300).joined(separator: ","))]"#,
            #"["length",["concat",\#(Array(repeating: #"["upcase",["get","t"]]"#, count: 12).joined(separator: ","))]]"#,
        ])
    func stopsWithinRow(text: String) throws {
        let expression = try compile(text)
        let feature: JSONObject = ["n": .number(2), "t": .string(String(repeating: "text", count: 10_000))]
        let checks = Mutex(0)
        let all = EvaluationBudget {
            checks.withLock { $0 += 1 }
            return false
        }
        _ = try expression.evaluate(properties: feature, budget: all)
        let count = checks.withLock { $0 }
        #expect(count >= 3)
        for last in 1...count {
            let checks = Mutex(0)
            let budget = EvaluationBudget {
                checks.withLock {
                    $0 += 1
                    return $0 >= last
                }
            }
            #expect(throws: EvaluationError.stopped) {
                try expression.evaluate(properties: feature, budget: budget)
            }
            #expect(checks.withLock { $0 } == last)
            #expect(throws: EvaluationStop.cancelled) { try budget.check() }
        }
    }

    @Test("a cancelled evaluation of rows counts no errors and throws") func rowsAreCancelled() throws {
        let expression = try compile(#"["sqrt",["get","n"]]"#)
        let checks = Mutex(0)
        let budget = EvaluationBudget {
            checks.withLock {
                $0 += 1
                return $0 > 3
            }
        }
        #expect(throws: EvaluationStop.cancelled) {
            try expression.values(rows(.number(3), count: 100_000, budget))
        }
        #expect(throws: EvaluationStop.cancelled) {
            try expression.numbers(rows(.number(3), count: 100_000, budget))
        }
    }

    @Test("a row with too long texts is an error of that row only") func rowLimit() throws {
        let text = String(repeating: "é", count: 400_000)
        let parts = Array(repeating: #"["==",["upcase",["get","t"]],"x"]"#, count: 8).joined(separator: ",")
        let expression = try compile("[\"any\",\(parts)]")
        let message = "The expression takes too long to evaluate: its texts or lists are too long."
        #expect(throws: EvaluationError(message)) { try expression.evaluate(properties: ["t": .string(text)]) }
        #expect(try expression.evaluate(properties: ["t": .string("short")]) == .bool(false))
    }

    @Test("constant parts share a budget, too") func constants() throws {
        let long =
            "[\"concat\",\(Array(repeating: "\"\(String(repeating: "x", count: 1000))\"", count: 1000).joined(separator: ","))]"
        func shouting(_ count: Int) -> String {
            let parts = Array(repeating: #"["upcase",["var","s"]]"#, count: count).joined(separator: ",")
            return "[\"let\",\"s\",\(long),[\"length\",[\"semiliteral\",[\(parts)]]]]"
        }
        #expect(throws: ExpressionCompileFailure.self) { try compile(shouting(900)) }
        let failure = #expect(throws: ExpressionCompileFailure.self) { try compile(shouting(20)) }
        #expect(failure?.errors.first?.message.contains("constant parts") == true)
    }

    @Test("searching texts that repeat themselves takes time proportional to their lengths")
    func repetitiveTexts() throws {
        let feature: JSONObject = [
            "t": .string(String(repeating: "a", count: 400_000)),
            "s": .string(String(repeating: "a", count: 200_000) + "b"),
        ]
        #expect(try compile(#"["in",["get","s"],["get","t"]]"#).evaluate(properties: feature) == .bool(false))
        #expect(try compile(#"["index-of",["get","s"],["get","t"]]"#).evaluate(properties: feature) == .number(-1))
    }

    @Test("messages of errors are limited in number and length, and every error is counted") func messages() throws {
        var builder = PropertyColumnWriter(rows: 1001)
        for number in 0..<1000 { builder.append(.string("x\(number)")) }
        builder.append(.string(String(repeating: "long ", count: 10_000)))
        var columns = FeatureColumns(count: 1001)
        columns.add("n", builder.finish())
        let expression = try compile(#"["to-number",["get","n"]]"#)
        let source = RowSource(columns: columns, rows: Array(0..<1001))
        let errors = try expression.values(source).errors
        #expect(errors.count == ErrorCounts.mostMessages + 1)
        #expect(errors.values.reduce(0, +) == 1001)
        #expect(errors["Could not convert \"x0\" to number."] == 1)
        #expect(errors[ErrorCounts.otherErrors] == 1001 - ErrorCounts.mostMessages)
        let last = try expression.values(RowSource(columns: columns, rows: [1000])).errors
        #expect(last.keys.allSatisfy { $0.utf8.count < 200 && $0.hasPrefix("Could not convert \"long long") })
    }
}
