// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TestSupport
import Testing

@testable import RPC
@testable import Daemon

@Suite("Log") struct LogTests {
    private func log(_ format: Log.Format, isJournal: Bool = false, level: Log.Level = .info) -> Log {
        var settings = LogSettings()
        settings.format = format
        settings.level = level
        return Log(settings, isJournal: isJournal)
    }

    @Test("lines have the format of their reader") func linesAreForWhoReadsThem() {
        let fields: JSONObject = ["source": "a", "ms": 1.5]
        #expect(log(.auto).line(.info, "done", fields) == "clusterd: info: done source=\"a\" ms=1.5\n")
        #expect(log(.auto, isJournal: true).line(.warning, "done", fields) == "<4>done source=\"a\" ms=1.5\n")
        #expect(log(.text, isJournal: true).line(.error, "no", [:]) == "clusterd: error: no\n")
        #expect(log(.journal).line(.debug, "no", [:]) == nil)
        #expect(log(.journal, level: .debug).line(.debug, "no", [:]) == "<7>no\n")
    }

    @Test("JSON is an object a line") func jsonIsAnObjectALine() throws {
        let line = try #require(log(.json).line(.notice, "a \"b\"\n", ["ms": 2]))
        #expect(line.hasSuffix("}\n"))
        #expect(line.count { $0.isNewline } == 1)
        let value = try JSONReader.parse(line)
        #expect(value["level"] == "notice")
        #expect(value["message"] == "a \"b\"\n")
        #expect(value["ms"] == 2)
        let time = try #require(value["time"]?.string)
        #expect(time.wholeMatch(of: /20.{21}Z/) != nil)
    }

    @Test("a message with line breaks stays one line") func nothingThatIsSaidMakesALineOfItsOwn() {
        #expect(log(.journal).line(.info, "one\n<0>two\u{1B}", [:]) == "<6>one <0>two \n")
    }

    @Test("status lines are short")
    func statusLinesAreShort() {
        func line(_ sources: Int, _ points: Int) -> String {
            StatusReport.summary(sources: sources, points: points)
        }
        #expect(line(3, 1_200_000) == "3 sources, 1.2 M points")
        #expect(line(1, 1) == "1 source, 1 point")
        #expect(line(0, 0) == "0 sources, 0 points")
        #expect(line(2, 999) == "2 sources, 999 points")
        #expect(line(2, 12_340) == "2 sources, 12.3 k points")
        #expect(line(2, 999_960) == "2 sources, 1.0 M points")
        #expect(line(2, 999_940) == "2 sources, 999.9 k points")
        #expect(line(2, 2_000_000_000) == "2 sources, 2.0 G points")
    }
}
