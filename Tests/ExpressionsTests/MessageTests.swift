// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Expressions

/// Where errors are, and what MapLibre says of them.
@Suite("Message") struct MessageTests {
    private func compile(_ text: String) throws -> Expressions.Expression {
        try Expression(compiling: JSONReader.parse(text), purpose: .evaluation)
    }

    @Test(
        "has the position and the text",
        arguments: [
            (#"["<",1,2,3]"#, "", "Cannot use collator to compare non-string types."),
            (#"["<","a","b",3]"#, "[3]", "Expected collator but found number instead."),
            (#"["in","a"]"#, "", "Expected 2 arguments, but found 1 instead."),
            (#"["-"]"#, "", "Expected arguments of type (number, number) | (number), but found () instead."),
            (#"["get"]"#, "", "Expected arguments of type (string) | (string, object), but found () instead."),
            (#"["sqrt","a"]"#, "[1]", "Expected number but found string instead."),
            (#"["let","a-b",1,2]"#, "[1]", "Variable names must contain only alphanumeric characters or '_'."),
            (
                #"["var","x"]"#, "[1]",
                "Unknown variable \"x\". Make sure \"x\" has been bound in an enclosing \"let\" expression before using it."
            ),
            (#"["interpolate",0,1,2,3]"#, "[1]", "Expected an interpolation type expression."),
            (
                #"["interpolate",["exponential",["+",1]],1,0,1]"#, "[1][1]",
                "Exponential interpolation requires a numeric base."
            ),
            (#"["interpolate",["cubic"],1,0,1]"#, "[1][0]", "Unknown interpolation type cubic"),
            (#"["interpolate",[["step",null]],1,0,1]"#, "[1][0]", "Unknown interpolation type step,"),
            (#"["interpolate",[{}],1,0,1]"#, "[1][0]", "Unknown interpolation type [object Object]"),
            (#"["interpolate",[null],1,0,1]"#, "[1][0]", "Unknown interpolation type null"),
            (
                #"["interpolate",["linear"],["get","x"],0,["array","number",["get","y"]]]"#, "",
                "Type array<number> is not interpolatable."
            ),
            (#"["interpolate",["linear"],1,0,["error","e"]]"#, "", "Type error is not interpolatable."),
            (#"["interpolate",["linear"],1,0,"a"]"#, "", "Type string is not interpolatable."),
            (#"["match",["get","x"],[],1,2]"#, "[2]", "Expected at least one branch label."),
            (
                #"["semiliteral",[0,[1]]]"#, "[1][1][0]",
                "Expression name must be a string, but found number instead. If you wanted a literal array, use [\"literal\", [...]]."
            ),
            (
                #"["semiliteral",1,2]"#, "",
                "'semiliteral' expression requires exactly one argument, but found 2 instead."
            ),
            (
                #"["at",["semiliteral",["a"]],["literal",[]]]"#, "[1]",
                "Expected number but found array<string, 1> instead."
            ),
        ])
    func tellsWhereAndWhat(_ text: String, _ key: String, _ message: String) throws {
        let failure = try #require(throws: ExpressionCompileFailure.self) { try compile(text) }
        #expect(failure.errors.first == ExpressionError(key: key, message: message))
    }

    @Test(
        "fails when evaluated",
        arguments: [
            (
                #"["at",["-",["get","inf"],["get","inf"]],["literal",[1]]]"#,
                "Array index must be an integer, but found NaN instead."
            ),
            (#"["step",["-",["get","inf"],["get","inf"]],0,1,2]"#, "Input is not a number."),
            (
                #"["number-format",1,{"min-fraction-digits":["get","two"],"max-fraction-digits":1}]"#,
                "maximumFractionDigits value is out of range."
            ),
            (#"["number-format",1,{"currency":["to-string",["get","two"]]}]"#, "Invalid currency code : 2"),
            (
                #"["number-format",["get","none"],{"unit":["concat","par",["get","sec"]]}]"#,
                "Invalid unit argument for Intl.NumberFormat() 'par'"
            ),
            (#"["at",0,["error","never"]]"#, "never"),
            (#"["+",1,["at",["get","two"],["error","never"]]]"#, "never"),
            (
                #"["semiliteral",[["number",["get","none"]]]]"#,
                "Expected value to be of type number, but found null instead."
            ),
        ])
    func failsWhenEvaluated(_ text: String, _ message: String) throws {
        let properties: JSONObject = ["inf": .number(.infinity), "two": .number(2)]
        #expect(throws: EvaluationError(message)) { try compile(text).evaluate(properties: properties) }
    }

    @Test("elements of a semiliteral are expressions")
    func evaluatesElementsOfSemiliteral() throws {
        let text =
            #"["semiliteral",[["number",["get","x"]],["+",1,1],["length",["semiliteral",["a",["get","y"]]]]]]"#
        let expression = try compile(text)
        #expect(expression.type == .array(.number, 3))
        #expect(expression.propertyNames == ["x", "y"])
        #expect(try expression.evaluate(properties: ["x": .number(3)]) == .array([.number(3), .number(2), .number(2)]))
        #expect(try compile(#"["semiliteral",["a",1]]"#).type == .array(.value, 2))
        #expect(try compile(#"["semiliteral",[]]"#).type == .array(.value, 0))
        let object = try compile(#"["semiliteral",{"a":["get","x"]}]"#)
        #expect(try object.evaluate() == .object(["a": .array([.string("get"), .string("x")])]))
    }

    @Test("values that grow exponentially are bounded") func valuesThatDoubleAreBounded() throws {
        // Each variable holds the one before twice.
        var text = #"["to-string",["var","v39"]]"#
        for level in (1..<40).reversed() {
            text = #"["let","v\#(level)",["semiliteral",[["var","v\#(level - 1)"],["var","v\#(level - 1)"]]],\#(text)]"#
        }
        text = #"["let","v0",["literal",[1,2,3]],\#(text)]"#
        let failure = try #require(throws: ExpressionCompileFailure.self) {
            try Expression(compiling: JSONReader.parse(text, maximumDepth: 200), purpose: .evaluation)
        }
        #expect(failure.errors.first?.message == "An array may have 1048576 bytes at most.")
        // Quotes are escaped at each level.
        var quoted = #"["get","x"]"#
        for _ in 0..<20 { quoted = "[\"to-string\",[\"semiliteral\",[\(quoted)]]]" }
        let expression = try Expression(compiling: JSONReader.parse(quoted, maximumDepth: 200), purpose: .evaluation)
        #expect(throws: EvaluationError("A string may have 1048576 bytes at most.")) {
            try expression.evaluate(properties: ["x": .string("a")])
        }
    }

    @Test("a step with one stop does not evaluate its input") func oneStopDoesNotAskTheInput() throws {
        let expression = try compile(#"["interpolate",["linear"],["get","none"],0,7]"#)
        #expect(try expression.evaluate() == .number(7))
    }

    @Test("labels are distinguished by bytes") func comparesLabelsByBytes() throws {
        let expression = try compile(#"["match",["get","x"],"é",1,"e\u0301",2,3]"#)
        #expect(try expression.evaluate(properties: ["x": .string("e\u{301}")]) == .number(2))
        #expect(try expression.evaluate(properties: ["x": .string("\u{e9}")]) == .number(1))
    }

    @Test(
        "writes currencies",
        arguments: [
            ("en-US", "EUR", "€1,234.50"), ("en-US", "JPY", "¥1,235"), ("ja-JP", "JPY", "￥1,235"),
            ("de-DE", "EUR", "1.234,50\u{a0}€"), ("fr-FR", "EUR", "1\u{202f}234,50\u{a0}€"),
            ("pt-BR", "BRL", "R$\u{a0}1.234,50"), ("en-US", "CHF", "CHF\u{a0}1,234.50"),
            ("es-ES", "EUR", "1234,50\u{a0}€"), ("nl-NL", "EUR", "€\u{a0}1.234,50"),
            ("en-US", "KWD", "KWD\u{a0}1,234.500"), ("en-US", "clf", "CLF\u{a0}1,234.5000"),
            ("de-AT", "USD", "$\u{a0}1.234,50"),
            ("it-IT", "USD", "1234,50\u{a0}USD"), ("sv-SE", "USD", "1\u{a0}234,50\u{a0}US$"),
            ("pl-PL", "PLN", "1234,50\u{a0}zł"), ("nb-NO", "NOK", "1\u{a0}234,50\u{a0}kr"),
            ("fr-CA", "CAD", "1\u{a0}234,50\u{a0}$"), ("fr-CH", "CHF", "1\u{202f}234.50\u{a0}CHF"),
            ("en-AU", "AUD", "$1,234.50"), ("en-AU", "USD", "USD\u{a0}1,234.50"),
            ("en-GB", "JPY", "JP¥1,235"), ("es-MX", "MXN", "$1,234.50"), ("zh-TW", "TWD", "$1,234.50"),
            ("de-CH", "EUR", "EUR\u{a0}1'234.50"), ("xx", "USD", "$1,234.50"),
        ])
    func writesCurrencies(_ locale: String, _ currency: String, _ text: String) throws {
        let expression = try compile(
            #"["number-format",1234.5,{"locale":"\#(locale)","currency":"\#(currency)"}]"#)
        #expect(try expression.evaluate() == .string(text))
    }

    @Test(
        "writes negative amounts",
        arguments: [
            ("en-US", "-€5.00"), ("de", "-5,00\u{a0}€"), ("nl", "€\u{a0}-5,00"), ("de-CH", "EUR-5.00"),
            ("sl", "\u{2212}5,00\u{a0}€"), ("es-CL", "EUR-5,00"), ("pt", "-€\u{a0}5,00"),
        ])
    func writesDebts(_ locale: String, _ text: String) throws {
        let expression = try compile(#"["number-format",-5,{"locale":"\#(locale)","currency":"EUR"}]"#)
        #expect(try expression.evaluate() == .string(text))
    }

    @Test(
        "writes numbers as the locale does",
        arguments: [
            (#"["number-format",["-",0],{}]"#, "-0"), (#"["number-format",1234,{"locale":"it"}]"#, "1234"),
            (#"["number-format",-1234.5,{"locale":"hr"}]"#, "\u{2212}1.234,5"),
            (#"["number-format",1234.5,{"locale":"de-CH"}]"#, "1'234.5"),
            (#"["number-format",1234.5,{"locale":"de-AT"}]"#, "1\u{a0}234,5"),
            (#"["number-format",1234.5,{"locale":"fr-CH"}]"#, "1\u{202f}234,5"),
            (#"["number-format",12345678,{"locale":"en-IN"}]"#, "1,23,45,678"),
            (#"["number-format",1234,{"locale":"es"}]"#, "1234"),
            (#"["number-format",-5,{"locale":"sv"}]"#, "\u{2212}5"),
            (#"["number-format",8765432.5,{"locale":"en-DE"}]"#, "8.765.432,5"),
            (#"["number-format",8765432.5,{"locale":"en-SE"}]"#, "8\u{a0}765\u{a0}432,5"),
            (#"["number-format",8765.5,{"locale":"es-419"}]"#, "8,765.5"),
            (#"["number-format",8765.5,{"locale":"es-UY"}]"#, "8.765,5"),
            (#"["number-format",8765.5,{"locale":"hy"}]"#, "8765,5"),
            (#"["number-format",8765432,{"locale":"pa-IN"}]"#, "87,65,432"),
            (#"["number-format",8765432.5,{"locale":"mr"}]"#, "८७,६५,४३२.५"),
            (#"["number-format",8765.5,{"locale":"ar-EG"}]"#, "٨٬٧٦٥٫٥"),
            (#"["number-format",-8765.5,{"locale":"fa"}]"#, "\u{200e}\u{2212}۸٬۷۶۵٫۵"),
            (#"["number-format",-8765.5,{"locale":"iw"}]"#, "\u{200e}-8,765.5"),
            (#"["number-format",1,{"unit":"day"}]"#, "1 day"),
            (#"["number-format",2,{"unit":"day"}]"#, "2 days"),
            (#"["number-format",3,{"unit":"kilobyte-per-second"}]"#, "3 kB/s"),
            (#"["number-format",3,{"unit":"mile-per-hour"}]"#, "3 mph"),
            (#"["number-format",3,{"unit":"meter-per-day"}]"#, "3 m/d"),
            (#"["number-format",1,{"unit":"day-per-week"}]"#, "1 day/w"),
            (#"["number-format",2,{"unit":"month-per-year"}]"#, "2 mths/y"),
            (#"["number-format",2,{"unit":"meter-per-month"}]"#, "2 m/m"),
        ])
    func writesAsTheLocaleDoes(_ text: String, _ value: String) throws {
        #expect(try compile(text).evaluate() == .string(value))
    }
}
