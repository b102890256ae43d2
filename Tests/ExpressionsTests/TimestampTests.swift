// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import Expressions

@Suite("to-timestamp and hash") struct TimestampTests {
    private func value(_ name: String, of value: JSONValue?) throws -> JSONValue {
        let text = "[\"\(name)\",[\"get\",\"x\"]]"
        let expression = try Expression(compiling: JSONReader.parse(text), purpose: .evaluation)
        return try expression.evaluate(properties: value.map { ["x": $0] } ?? [:])
    }

    @Test(
        "a date-time becomes milliseconds",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01", 0), ("2026-05-01", 1_777_593_600_000),
            ("2026-05-01T10:30:00.25", 1_777_631_400_250), ("2026-05-01T12:30:00.25+02:00", 1_777_631_400_250),
            ("2026-05-01t10:30:00.250z", 1_777_631_400_250), ("2026-04-30T23:00:00.2509-11:30", 1_777_631_400_250),
            ("2026-05-01T10:30:00.2+00:00", 1_777_631_400_200), ("2026-05-01T10:30:00-00:00", 1_777_631_400_000),
            ("1969-12-31T23:59:59.9996", -1), ("0000-01-01", -62_167_219_200_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000), ("1600-03-01", -11_670_912_000_000),
            ("2000-02-29", 951_782_400_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("2017-01-01T01:59:60.5+02:00", 1_483_228_800_500),
        ])
    func dates(_ text: String, _ milliseconds: Double) throws {
        #expect(try value("to-timestamp", of: .string(text)) == .number(milliseconds))
    }

    @Test("a number passes unchanged", arguments: [0, -1.5, 1e300]) func numbers(_ number: Double) throws {
        #expect(try value("to-timestamp", of: .number(number)) == .number(number))
    }

    @Test(
        "anything else is an error",
        arguments: [
            "", " ", "2026", "2026-05", "2026-5-1", "2026-13-01", "2026-00-01", "2026-04-31", "2026-02-29",
            "1900-02-29",
            "2026-05-00", "2026-05-01T", "2026-05-01T10", "2026-05-01T10:30", "2026-05-01T10:30Z",
            "2026-05-01 10:30:00",
            "2026-05-01T24:00:00", "2026-05-01T10:60:00", "2026-05-01T10:30:61", "2026-05-01T10:30:60Z",
            "2026-05-01T10:30:00.", "2026-05-01T10:30:00.Z", "2026-05-01T10:30:00+02", "2026-05-01T10:30:00+0200",
            "2026-05-01T10:30:00+24:00", "2026-05-01T10:30:00+02:60", "2026-05-01T10:30:00Z ", " 2026-05-01",
            "2026-05-01Z", "20260501", "+2026-05-01", "2026-05-0１", "1777593600000", "2026-05-01T10:30:00,5Z",
        ])
    func refuses(_ text: String) throws {
        let failure = try #require(throws: EvaluationError.self) { try value("to-timestamp", of: .string(text)) }
        #expect(failure.message == "Could not convert \(JSONValue.string(text).text) to timestamp.")
    }

    @Test("values that are neither numbers nor texts are errors") func otherTypes() {
        for other in [nil, JSONValue.null, .bool(true), .array([.number(1)])] {
            #expect(throws: EvaluationError.self) { try value("to-timestamp", of: other) }
        }
    }

    @Test("a constant that is no date-time does not compile") func constants() throws {
        let text = try JSONReader.parse(#"["to-timestamp","yesterday"]"#)
        #expect(throws: ExpressionCompileFailure.self) { try Expression(compiling: text, purpose: .evaluation) }
    }

    /// Expected values from an implementation in Python.
    @Test(
        "a hash is that of the value's text",
        arguments: [
            (.null, 1_075_637_845_389_024), (.string(""), 1_075_637_845_389_024), (.string("a"), 5_304_323_468_276_340),
            (.number(7), 4_031_081_909_302_291), (.string("7"), 4_031_081_909_302_291),
            (.array([.number(1), .string("é")]), 4_757_581_865_818_599), (.bool(true), 7_101_601_831_341_494),
            (.string("Köln am Rhein"), 8_226_799_141_585_672),
        ] as [(JSONValue, Double)])
    func hashes(_ input: JSONValue, _ hash: Double) throws {
        #expect(try value("hash", of: input) == .number(hash))
    }
}
