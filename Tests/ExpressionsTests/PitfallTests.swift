// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Expressions

/// Where ports of the language go wrong.
@Suite("Pitfall") struct PitfallTests {
    private func evaluate(_ text: String, _ properties: String = "{}") throws -> String {
        let expression = try Expression(compiling: JSONReader.parse(text), purpose: .evaluation)
        guard case .object(let object) = try JSONReader.parse(properties) else { return "" }
        let value = try expression.evaluate(properties: object, zoom: 5)
        if case .number(let number) = value { return String(javaScript: number) }
        return value.text
    }

    @Test(
        "evaluates",
        arguments: [
            (#"["to-string",1e21]"#, #""1e+21""#), (#"["to-string",1e-7]"#, #""1e-7""#),
            (#"["to-string",-0]"#, #""0""#),
            (
                #"["to-string",["literal",{"b":[1,null],"2":1,"1":0}]]"#,
                #""{\"1\":0,\"2\":1,\"b\":[1,null]}""#
            ),
            (#"["to-number"," 1 "]"#, "1"), (#"["to-number","0x10"]"#, "16"), (#"["to-number",""]"#, "0"),
            (#"["to-number",null,7]"#, "0"), (#"["to-number","inf",7]"#, "7"), (#"["to-number","nan",7]"#, "7"),
            // A whole number of more bits than fit is rounded once, not digit by digit.
            (#"["to-number","0x169f86b16399e88b0"]"#, "26082714985116373000"),
            (#"["to-number","0o1624603734225515372156"]"#, "16514838117240666000"),
            (
                #"["to-number","0b110100000111110000001010011111010010011001100011010001101110110"]"#,
                "7511446994816181000"
            ),
            (#"["index-of",6,["literal",[5,6]],-0.5]"#, "1"),
            (#"["to-boolean",""]"#, "false"), (#"["to-boolean","0"]"#, "true"),
            (#"["to-boolean",["literal",[]]]"#, "true"),
            (#"["length","a😀é"]"#, "3"), (#"["slice","a😀b",1,2]"#, #""😀""#),
            (#"["index-of","b","a😀b"]"#, "2"),
            (#"["<","😀","\uffff"]"#, "true"), (#"["==","é","e\u0301"]"#, "false"),
            (#"["upcase","straße"]"#, #""STRASSE""#), (#"["downcase","ΟΔΟΣ ΣΑΣ."]"#, #""οδος σας.""#),
            (#"["downcase","Σ ΑΣ’Σ ΑΣΑ İ"]"#, #""σ ασ’ς ασα i̇""#),
            (#"["split","a😀",""]"#, #"["a","😀"]"#), (#"["in","a",""]"#, "false"),
            (#"["in",1,["literal",[1,2]]]"#, "true"),
            (#"["match",["get","x"],1,"one","other"]"#, #""other""#),
            (#"["coalesce",["get","x"],null,2]"#, "2"),
            (#"["step",5,"a",5,"b"]"#, #""b""#), (#"["interpolate",["linear"],20,0,0,10,100]"#, "100"),
            (#"["/",1,["min",0,-0.0]]"#, "-Infinity"), (#"["/",1,["min",-0.0,0]]"#, "-Infinity"),
            (#"["/",1,["max",0,-0.0]]"#, "Infinity"), (#"["/",1,["max",-0.0,0]]"#, "Infinity"),
            (#"["min"]"#, "Infinity"),
            (#"["max"]"#, "-Infinity"), (#"["+"]"#, "0"), (#"["*"]"#, "1"), (#"["%",-5,3]"#, "-2"),
            (#"["%",5,-3]"#, "2"),
            (#"["round",-2.5]"#, "-3"), (#"["round",2.5]"#, "3"), (#"["floor",["log10",1000]]"#, "2"),
            (#"["zoom"]"#, "5"), (#"["number-format",1.0005,{}]"#, #""1.001""#),
            (#"["number-format",-1234.55,{"max-fraction-digits":1}]"#, #""-1,234.6""#),
            (#"["let","a",2,["*",["var","a"],["var","a"]]]"#, "4"),
            (#"["slice",["literal",[1,2,3]],-2]"#, "[2,3]"),
            (#"["concat","a",1,true,null,["literal",[1]]]"#, #""a1true[1]""#),
            (#"["at",1,["literal",[5,6]]]"#, "6"),
            (#"["case",false,1,2]"#, "2"), (#"["typeof",["literal",[1,"a"]]]"#, #""array<value, 2>""#),
        ])
    func evaluates(_ expression: String, _ value: String) throws {
        #expect(try evaluate(expression) == value)
    }

    @Test(
        "is not a number",
        arguments: [#"["^",1,["/",1,0]]"#, #"["min",1,["sqrt",-1]]"#, #"["max",1,["sqrt",-1]]"#])
    func isNotANumber(_ expression: String) throws {
        #expect(try evaluate(expression) == "NaN")
    }

    @Test(
        "refuses",
        arguments: [
            (#"["at",-1,["literal",[1]]]"#, "Array index out of bounds: -1 < 0."),
            (#"["to-number","x"]"#, "Could not convert \"x\" to number."),
            (#"["==",["literal",[1]],1]"#, "\"==\" comparisons are not supported for type 'array<number, 1>'."),
            (#"["==",1,"1"]"#, "Cannot compare types 'number' and 'string'."),
            (#"["match",["get","x"],1,0,1,0,2]"#, "Branch labels must be unique."),
            (#"["match",["get","x"],1.5,0,2]"#, "Numeric branch labels must be integer values."),
            (#"["case",1,2,3]"#, "Expected boolean but found number instead."),
            (
                #"{"property":"height","stops":[[0,"low"],[9,"high"]]}"#,
                "Legacy function objects are not supported. Use \"interpolate\", \"step\", \"match\" or \"get\" instead."
            ),
            (#"{"height":9}"#, "Bare objects invalid. Use [\"literal\", {...}] instead."),
            (
                #"["to-string",{"stops":[]}]"#, "Bare objects invalid. Use [\"literal\", {...}] instead."
            ),
            (#"["rgb",1,2,3]"#, "\"rgb\" needs a rendered map and is not supported."),
            (#"["number-format",1,{"locale":"-"}]"#, "Incorrect locale information provided"),
            (
                #"["step",1,0,2,0,2,0]"#,
                "Input/output pairs for \"step\" expressions must be arranged with input values in strictly ascending order."
            ),
        ])
    func refuses(_ expression: String, _ message: String) throws {
        let failure = try #require(throws: ExpressionCompileFailure.self) {
            try Expression(compiling: JSONReader.parse(expression), purpose: .evaluation)
        }
        #expect(failure.errors.first?.message == message)
    }

    @Test(
        "rejects operators that the expression's purpose does not have",
        arguments: [
            ("zoom", ExpressionPurpose.map), ("accumulated", .map), ("accumulated", .filter),
            ("zoom", .reduce),
        ])
    func knowsWhatItIsFor(_ name: String, _ purpose: ExpressionPurpose) {
        #expect(throws: ExpressionCompileFailure.self) {
            try Expression(compiling: .array([.string(name)]), purpose: purpose)
        }
    }

    @Test("work is bounded") func workIsBounded() throws {
        // Each failing level tries several signatures.
        var hostile = #"["all",1,2]"#
        for _ in 0..<60 { hostile = "[\"all\",\(hostile),true]" }
        #expect(throws: ExpressionCompileFailure.self) {
            try Expression(compiling: JSONReader.parse(hostile, maximumDepth: 200), purpose: .evaluation)
        }
        // Each variable is used twice by the next: evaluated at each use, the last would be 2^30 times.
        var doubling = #"["+",["var","v0"],["get","x"]]"#
        for level in 0..<30 {
            doubling = #"["let","v\#(level)",["+",["var","v\#(level + 1)"],["var","v\#(level + 1)"]],\#(doubling)]"#
        }
        doubling = #"["let","v30",["get","x"],\#(doubling)]"#
        let expression = try Expression(compiling: JSONReader.parse(doubling, maximumDepth: 200), purpose: .evaluation)
        #expect(try expression.evaluate(properties: ["x": .number(1)]) == .number(Double(1 << 30 + 1)))
    }

    @Test("rows agree with single features") func rowsAgreeWithSingleFeatures() throws {
        let values: [JSONValue] = [
            .null, .number(1), .number(500), .string("cafe"), .string("b"), .bool(true), .array([.number(1)]),
        ]
        var builder = PropertyColumnWriter(rows: values.count + 1)
        builder.appendMissing()
        for value in values { builder.append(value) }
        var columns = FeatureColumns(count: values.count + 1)
        columns.add("x", builder.finish())
        let filters = [
            #"[">=",["get","x"],500]"#, #"["==",["get","x"],"cafe"]"#, #"["!=",["get","x"],1]"#,
            #"["has","x"]"#,
            #"["any",["==",["get","x"],1],[">",["get","x"],2]]"#,
            #"["all",["has","x"],["!",["==",["get","x"],"b"]]]"#,
            #"["in",["get","x"],["literal",["cafe",1]]]"#, #"["<",2,["get","x"]]"#,
            #"["to-boolean",["get","x"]]"#,
            #"["case",["==",["get","x"],1],true,["boolean",["get","x"],false]]"#, #"["<",["get","x"],"c"]"#,
        ]
        for text in filters {
            let filter = try Expression(
                compiling: JSONReader.parse(text), expected: .boolean, purpose: .filter)
            let passing = try filter.passing(
                RowSource(columns: columns, rows: Array(0..<UInt32(columns.count))))
            let expected = (0..<columns.count).filter { row in
                let properties: JSONObject = row == 0 ? [:] : ["x": values[row - 1]]
                return (try? filter.evaluate(properties: properties)) == .bool(true)
            }
            #expect(passing.map(Int.init) == expected, "\(text)")
        }
    }

    @Test(
        "arrays and objects are equal if their content is",
        arguments: [
            (#"{"a":[1,{"b":null}],"b":[1,{"b":null}]}"#, true), (#"{"a":[1,2],"b":[2,1]}"#, false),
            (#"{"a":{"x":1,"y":[]},"b":{"y":[],"x":1}}"#, true), (#"{"a":{"x":1},"b":{"x":2}}"#, false),
            (#"{"a":{"x":1},"b":{"x":1,"y":2}}"#, false), (#"{"a":[],"b":{}}"#, false),
            (#"{"a":["é"],"b":["e\u0301"]}"#, false), (#"{"a":[0],"b":[-0]}"#, true),
            (#"{"a":[1],"b":1}"#, false), (#"{"a":[],"b":null}"#, false),
        ])
    func equalContent(_ text: String, _ isEqual: Bool) throws {
        guard case .object(let properties) = try JSONReader.parse(text) else { return }
        for (name, expected) in [("==", isEqual), ("!=", !isEqual)] {
            let filter = try Expression(
                compiling: JSONReader.parse("[\"\(name)\",[\"get\",\"a\"],[\"get\",\"b\"]]"), expected: .boolean,
                purpose: .filter)
            #expect(try filter.evaluate(properties: properties) == .bool(expected))
            var columns = FeatureColumns(count: 1)
            for (key, value) in properties.members {
                var builder = PropertyColumnWriter(rows: 1)
                builder.append(value)
                columns.add(key, builder.finish())
            }
            #expect(try filter.passing(RowSource(columns: columns, rows: [0])) == (expected ? [0] : []))
        }
        let same = try Expression(compiling: JSONReader.parse(#"["==",["get","a"],["get","a"]]"#), purpose: .filter)
        #expect(try same.evaluate(properties: properties) == .bool(true))
    }

    @Test("rows have the geometry type Point") func rowsArePoints() throws {
        let filter = try Expression(
            compiling: JSONReader.parse(#"["==",["geometry-type"],"Point"]"#), expected: .boolean, purpose: .filter)
        #expect(try filter.passing(RowSource(columns: FeatureColumns(count: 2), rows: [0, 1])) == [0, 1])
    }
}
