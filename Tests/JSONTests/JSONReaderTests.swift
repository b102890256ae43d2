// SPDX-License-Identifier: MIT
import Testing

@testable import JSON

@Suite("Reading JSON") struct JSONReaderTests {
    @Test(
        "values of every kind",
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("false", .bool(false)), ("12", .number(12)),
            ("-0.5e-3", .number(-0.0005)),
            (#""a\"b\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#, .string("a\"b\\/\u{8}\u{c}\n\r\té😀")),
            ("[]", .array([])), ("[1,[2],{}]", .array([.number(1), .array([.number(2)]), .object([:])])),
            (#"{"a":{"b":[]}}"#, .object(["a": .object(["b": .array([])])])),
            (#"{"a":1,"a":2}"#, .object(["a": .number(2)])), (#""\u0000""#, .string("\0")),
        ] as [(String, JSONValue)])
    func values(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONReader.parse(text) == value)
    }

    @Test(
        "numbers to the last bit",
        arguments: [
            "0", "-0", "1e22", "1e23", "9007199254740993", "123456789012345678901", "1.7976931348623157e308",
            "4.9e-324", "1e-400", "0.1", "2.2250738585072011e-308", "179.999999", "3.14159265358979323846264338",
            "0.000000000000000000000000000001", "12345678901234567890e-20",
        ])
    func numbers(_ text: String) throws {
        #expect(try JSONReader.parse(text) == .number(Double(text) ?? .nan))
    }

    @Test("numbers of digits in runs of every length are what the C library reads") func digits() throws {
        var random = SystemRandomNumberGenerator()
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in "0123456789".randomElement(using: &random) ?? "0" })
        }
        for whole in 0...24 {
            for fraction in 0...24 {
                let text = "-\(Int.random(in: 1...9, using: &random))\(digits(whole)).\(digits(fraction))7"
                let number = JSONValue.number(Double(text) ?? .nan)
                #expect(try JSONReader.parse(text) == number, "\(text)")
                // What stands behind a number is no part of it, though it is read with it.
                #expect(try JSONReader.parse("[\(text),12]") == .array([number, .number(12)]), "\(text)")
            }
        }
        for bad in ["1234567/", "123456:8", "0.1234567x", "12345678é", "1234567-8"] {
            #expect(throws: JSONError.self, "\(bad)") { _ = try JSONReader.parse(bad) }
        }
    }

    @Test("zeros in front make a number neither large nor unreadable") func leadingZeros() throws {
        let zeros = String(repeating: "0", count: 400)
        #expect(try JSONReader.parse("0.\(zeros)1") == .number(0))
        #expect(try JSONReader.parse("0.\(zeros)1e402") == .number(10))
        #expect(try JSONReader.parse("0e999999") == .number(0))
        #expect(throws: JSONError.self) { _ = try JSONReader.parse("0.\(zeros)1e800") }
        #expect(throws: JSONError.self) { _ = try JSONReader.parse("1\(zeros)") }
    }

    @Test(
        "text that is not JSON is rejected",
        arguments: [
            "", " ", "tru", "truex", "nul", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "NaN",
            "Infinity",
            "[1 2]", "[1,]", "[,1]", "[", "]", "{", "}", "{1:2}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
            #"{"a" 1}"#,
            #"{"a":1 "b":2}"#, "1 2", "[1]]", "[1}", #"{"a":1]"#, #""abc"#, #""\x""#, #""\u12""#,
            #""\ud800""#,
            #""\udc00""#, #""\ud800\u0041""#, "\"a\nb\"", "\"\u{1}\"", "'a'", "1e400", "-1e400", #""a"b"#,
            "1a", "[1a]",
        ])
    func refused(_ text: String) {
        #expect(throws: JSONError.self) { _ = try JSONReader.parse(text) }
    }

    @Test(
        "bytes that are not UTF-8",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0xED]] as [[UInt8]])
    func encoding(_ bytes: [UInt8]) {
        #expect(throws: JSONError.self) { _ = try JSONReader.parse(bytes) }
    }

    @Test("depth") func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONReader.parse(nested(64))
        let error = #expect(throws: JSONError.self) { _ = try JSONReader.parse(nested(65)) }
        #expect(error?.kind == .depth)
        #expect(error?.offset == 64)
        #expect(throws: JSONError.self) {
            _ = try JSONReader.parse(String(repeating: "{\"a\":", count: 100_000))
        }
    }

    @Test("a truncated text is rejected") func cut() throws {
        let text = Array(#"{"id":7,"a":[1,-2.5e3,"x\u00e9y",{"b":null,"c":[true,false]}],"d":"ü"}"#.utf8)
        _ = try JSONReader.parse(text)
        for length in text.indices {
            #expect(throws: JSONError.self) { _ = try JSONReader.parse(Array(text[..<length])) }
        }
    }

    @Test("random bytes never crash, and what is accepted is read again the same") func fuzz() throws {
        var state: UInt64 = 42
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "a", "1", "-", ".", "e", "true", "null", " ", "\\u0041", "é",
        ]
        for _ in 0..<20_000 {
            let text = (0..<next(14)).map { _ in pieces[next(pieces.count)] }.joined()
            if let value = try? JSONReader.parse(text) {
                #expect(try JSONReader.parse(value.text) == value, "\(text)")
            }
        }
    }

    @Test("the tape gives each value's own text") func rawText() throws {
        let text = Array(#" { "a" : [ 1.50 , "x\ny" ] , "b":{"c" :12345678901234567890} } "#.utf8)
        let document = try JSONDocument(text)
        try document.withRoot { root in
            func raw(_ element: JSONElement?) -> String? {
                element.map { String(decoding: $0.rawText, as: UTF8.self) }
            }
            #expect(raw(root["a"]) == #"[ 1.50 , "x\ny" ]"#)
            #expect(root["a"]?.elements.map { String(decoding: $0.rawText, as: UTF8.self) } == ["1.50", #""x\ny""#])
            #expect(raw(root["b"]?["c"]) == "12345678901234567890")
            let missing = root["d"]
            #expect(missing == nil)
            let array = try #require(root["a"])
            #expect(array.count == 2)
            #expect(root.count == 2)
        }
    }

    @Test("keys are found by their text, however it is escaped; the last of equal ones counts")
    func keys() throws {
        let document = try JSONDocument(
            Array(##"{"":0,"id":1,"idx":2,"i":3,"ID":4,"\u0069d":5,"n\u0000":6}"##.utf8))
        document.withRoot { root in
            #expect(root["id"]?.number == 5)
            #expect(root["idx"]?.number == 2)
            #expect(root["i"]?.number == 3)
            #expect(root[""]?.number == 0)
            #expect(root["n\0"]?.number == 6)
            let absent = root["d"] == nil && root["idxx"] == nil
            #expect(absent)
            #expect(root.members.filter { $0.key.isString(Array("id".utf8)) }.count == 2)
            #expect(root.members.filter { $0.key.isString([]) }.count == 1)
        }
    }

    @Test("of equal keys the last value counts, at the first one's position, whatever the number of members")
    func manyMembers() throws {
        for count in [15, 16, 17, 100, 3000] {
            let names = (0..<count).map { "key \($0) \u{E9}" }
            let texts = (names + names.reversed() + ["key 0 e\u{301}"]).enumerated().map {
                "\"\($0.element)\":\($0.offset)"
            }
            var expected: [(key: String, value: JSONValue)] = names.enumerated().map {
                ($0.element, .number(Double(2 * count - 1 - $0.offset)))
            }
            // Canonically equivalent, yet of other bytes.
            expected.append(("key 0 e\u{301}", .number(Double(2 * count))))
            guard case .object(let object) = try JSONReader.parse("{\(texts.joined(separator: ","))}") else {
                Issue.record("no object")
                continue
            }
            let members = object.members
            #expect(members.count == expected.count)
            #expect(zip(members, expected).allSatisfy { $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value })
        }
    }

    @Test("integers") func integers() throws {
        let document = try JSONDocument(Array("[1,-5,9007199254740993,9223372036854775808,1.0,1e3,1.5]".utf8))
        document.withRoot { root in
            #expect(root.elements.map(\.integer) == [1, -5, 9_007_199_254_740_993, nil, 1, 1000, nil])
        }
    }

    @Test("strings that are canonically equal are not equal here") func equality() throws {
        #expect(JSONValue.string("é") != .string("e\u{301}"))
        let object = try JSONReader.parse("{\"é\":1,\"e\u{301}\":2}")
        guard case .object(let members) = object else {
            Issue.record("an object was expected")
            return
        }
        #expect(members.count == 2)
        #expect(members["é"] == .number(1))
    }
}

extension JSONElement.Elements {
    fileprivate func map<T>(_ path: KeyPath<JSONElement, T>) -> [T] { map { $0[keyPath: path] } }
}
