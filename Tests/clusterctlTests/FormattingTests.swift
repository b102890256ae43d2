// SPDX-License-Identifier: MIT
import ClusterClient
import JSON
import Rendering
import Testing

@testable import clusterctl

@Suite("Formatting") struct FormattingTests {
    @Test(
        "whole numbers are grouped",
        arguments: [
            (0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567"),
            (Int.min, "-9,223,372,036,854,775,808"),
        ])
    func wholeNumbersAreGrouped(number: Int, text: String) { #expect(Quantity.grouped(number) == text) }

    @Test(
        "printed means have six digits",
        arguments: [
            (JSONValue.number(1.0 / 3), "m=0.333333"), (.number(123456.789), "m=123457"),
            (.number(-48.137154), "m=-48.1372"), (.number(37_274_000), "m=37274000"),
            (.string("1.23456789"), "m=1.23456789"),
        ])
    func printedMeansHaveSixDigits(value: JSONValue, text: String) {
        #expect(FeatureTable.properties([(key: "m", value: value)]) == text)
    }

    @Test(
        "nouns agree with their number", arguments: [(0, "0 points"), (1, "1 point"), (1000, "1,000 points")])
    func nounsAgreeWithTheirNumber(number: Int, text: String) {
        #expect(Quantity.count(number, "point") == text)
    }

    @Test(
        "bytes are short",
        arguments: [
            (0.0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (180_887_197, "173 MiB"),
            (1_048_575, "1.0 MiB"),
        ])
    func bytesAreShort(count: Double, text: String) { #expect(Quantity.bytes(count) == text) }

    @Test(
        "durations are in their unit",
        arguments: [
            (0.034, "0.03 ms"), (15.2, "15 ms"), (1500, "1.50 s"), (65_000, "1 min 5 s"), (7_260_000, "2 h 1 min"),
            (183_600_000, "2 d 3 h"),
        ])
    func durationsAreInTheirUnit(milliseconds: Double, text: String) {
        #expect(Quantity.duration(milliseconds: milliseconds) == text)
    }

    @Test(
        "decimals are fixed",
        arguments: [(1.005, 2, "1.00"), (-0.5, 0, "-1"), (2.5, 1, "2.5"), (1e300, 2, "1e+300"), (0.07, 1, "0.1")])
    func decimalsAreFixed(value: Double, decimals: Int, text: String) {
        #expect(Quantity.fixed(value, decimals: decimals) == text)
    }

    @Test("tables align by displayed width") func tablesAlignByDisplayedWidth() {
        var table = Table([.text("NAME"), .number("N"), .flexible("MORE")])
        table.add(["Zürich", "7", "a"])
        table.add(["東京", "1,234", "b\u{1B}[31m\n"])
        #expect(
            table.text(width: nil, style: .plain) == """
                NAME        N  MORE
                Zürich      7  a
                東京    1,234  b [31m

                """)
    }

    @Test("flexible columns shrink") func flexibleColumnsGiveWay() {
        var table = Table([.text("A"), .flexible("B")])
        table.add(["x", String(repeating: "long ", count: 10)])
        let lines = table.text(width: 20, style: .plain).split(separator: "\n")
        #expect(lines[1] == "x  long long long l…")
    }

    @Test("the progress bar fits the terminal") func theProgressBarFitsTheTerminal() {
        for width in [10, 40, 80, 200] {
            let line = ProgressBar.line("cities", 50 << 20, of: 100 << 20, 12_345, elapsed: .seconds(2), width: width)
            #expect(DisplayWidth.of(line) < width)
        }
        let line = ProgressBar.line("c", 50 << 20, of: 100 << 20, 12_345, elapsed: .seconds(2), width: 90)
        #expect(line.contains("50%"))
        #expect(line.contains("12,345 features"))
        #expect(line.contains("25.0 MiB/s"))
    }

    @Test("the wrong part is underlined") func theWrongPartIsUnderlined() {
        let text = #"["+", 1, ["get", 7]]"#
        #expect(JSONLocation.range(of: "[2][1]", in: text) == 17..<18)
        #expect(JSONLocation.range(of: "[2]", in: text) == 9..<19)
        #expect(JSONLocation.range(of: "", in: text) == 0..<20)
        #expect(JSONLocation.range(of: #"[1]["b"]"#, in: #"[0,{"b":"é"}]"#) == 8..<12)
        #expect(JSONLocation.range(of: "[0]", in: "no json") == nil)
        #expect(Underline.message("Expected.", in: "[\n \"東\", 7]", at: 10..<11) == " \"東\", 7]\n       ^\nExpected.")
        #expect(Underline.message("Past.", in: "[1", at: 9..<10) == "[1\n  ^\nPast.")
    }

    @Test(
        "boxes are four numbers",
        arguments: [
            ("-10,35, 30 ,60", BoundingBox(west: -10, south: 35, east: 30, north: 60)), ("1,2,3", nil),
            ("1,2,3,x", nil),
            ("1,2,3,nan", nil), ("1,2,3,4,", nil),
        ] as [(String, BoundingBox?)])
    func boxesAreFourNumbers(text: String, box: BoundingBox?) { #expect(BoundingBox(text: text) == box) }

    @Test(
        "ids that look like numbers are numbers",
        arguments: [
            ("17", "17"), ("\"17\"", "\"17\""), ("abc", "\"abc\""), ("true", "\"true\""),
            ("9007199254740993", "9007199254740993"),
        ])
    func idsAreNumbersWhereTheyLookLikeIt(text: String, id: String) {
        #expect(UpdateCommand.identifier(text) == id)
    }

    @Test("counters of statistics get rates") func countersOfStatisticsGetRates() throws {
        let before = try JSONReader.parse(#"{"bytes":{"sent":1024},"calls":{"total":10},"uptimeSeconds":1}"#)
        let now = try JSONReader.parse(
            #"{"bytes":{"sent":5120},"calls":{"total":30},"uptimeSeconds":3,"methods":{"A/B":{"calls":2,"latencyMs":{"p50":0.5}}}}"#
        )
        let text = StatsReport(now, before: before, seconds: 2).text(width: nil, style: .plain)
        #expect(text.contains("bytes.sent     5.0 KiB  (+2.0k/s)"))
        #expect(text.contains("calls.total    30  (+10/s)"))
        #expect(text.contains("uptimeSeconds  3.00 s\n"))
        #expect(text.contains("A/B       2  0.50 ms"))
    }

    @Test("only statistics in milliseconds are durations") func durationsOfStatistics() throws {
        let value = try JSONReader.parse(#"{"http":{"eventStreams":2},"buildMs":1500}"#)
        let text = StatsReport(value, before: nil, seconds: 0).text(width: nil, style: .plain)
        #expect(text.contains("http.eventStreams  2\n"), "\(text)")
        #expect(text.contains("buildMs            1.50 s"), "\(text)")
    }

    @Test("a large archive gets advice on a smaller one") func sizeOfArchives() throws {
        func estimate(_ mebibytes: [Int]) -> JSONValue {
            let zooms = mebibytes.enumerated().map { zoom, size -> JSONValue in
                ["zoom": .number(Double(zoom + 3)), "bytes": .number(Double(size << 20))]
            }
            return ["bytes": .number(Double(mebibytes.reduce(0, +) << 20)), "zooms": .array(zooms)]
        }
        #expect(PublishCommand.advice(estimate([1, 2, 20])) == nil)
        #expect(
            PublishCommand.advice(estimate([1, 5, 10, 97]))
                == "the archive will have about 113 MiB; with --max-zoom 5 about 16.0 MiB")
        #expect(PublishCommand.advice(estimate([40])) == "the archive will have about 40.0 MiB")
    }

    @Test("a column that only later rows of statistics have comes after the one before it in these rows")
    func columnsOfStatistics() throws {
        let value = try JSONReader.parse(
            #"{"methods":{"A":{"calls":1,"errors":{},"latencyMs":{"p50":1}},"B":{"calls":2,"errors":{"NOT_FOUND":1},"latencyMs":{"p50":1}},"C":{"calls":3,"errors":{"ABORTED":2,"NOT_FOUND":1},"latencyMs":{"p50":1}}}}"#
        )
        let text = StatsReport(value, before: nil, seconds: 0).text(width: nil, style: .plain)
        #expect(text.contains("NAME  CALLS  ABORTED  NOT_FOUND      P50"))
        #expect(text.contains("C         3        2          1  1.00 ms"))
    }

    @Test("a quotation mark in a cell of CSV is doubled, also before a combining accent") func quotedCells() {
        #expect(CSVText.row(["a\"b", "c"]) == "\"a\"\"b\",c\n")
        #expect(
            Array(CSVText.row(["a\"\u{301}b"]).unicodeScalars)
                == Array("\"a\"\"\u{301}b\"\n".unicodeScalars))
    }
}
