// SPDX-License-Identifier: MIT
import ReplicationLog
import Testing

@Suite("Log position") struct LogPositionTests {
    @Test(
        "positions are read and written as pg_lsn",
        arguments: [
            ("0/0", 0 as UInt64, "0/0"), ("0/16B3748", 0x16b_3748, "0/16B3748"),
            ("16/b374d848", 0x16_b374_d848, "16/B374D848"),
            ("0000000A/00000001", 0xa_0000_0001, "A/1"), ("FFFFFFFF/FFFFFFFF", .max, "FFFFFFFF/FFFFFFFF"),
        ])
    func text(_ text: String, _ value: UInt64, _ written: String) {
        #expect(LogPosition(text)?.rawValue == value)
        #expect(LogPosition(rawValue: value).description == written)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "/", "0", "0/", "/0", "0/0/0", "0/123456789", "123456789/0", "0/g", "-1/0", "0/+1", " 0/1", "0/1 ",
            "０/１", "0x1/2",
        ])
    func invalid(_ text: String) { #expect(LogPosition(text) == nil) }

    @Test("positions are in the order of the log") func order() {
        let texts = ["0/1", "0/FFFFFFFF", "1/0", "A/0", "10/0"]
        let positions = texts.compactMap { LogPosition($0) }
        #expect(positions.count == texts.count)
        #expect(positions.sorted() == positions)
    }

    @Test("a distance is the number of bytes to a later position, and 0 to an earlier one") func distance() {
        let (first, last) = (LogPosition(rawValue: 0), LogPosition(rawValue: .max))
        #expect(first.distance(to: last) == .max)
        #expect(last.distance(to: first) == 0)
        #expect(LogPosition(rawValue: 5).distance(to: LogPosition(rawValue: 9)) == 4)
    }
}
