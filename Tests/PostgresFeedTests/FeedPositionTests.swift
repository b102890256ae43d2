// SPDX-License-Identifier: MIT
import ReplicationLog
import SystemSupport
import Testing

@testable import PostgresFeed

@Suite("Positions") struct FeedPositionTests {
    @Test("A log position is read and written as PostgreSQL does") func logPosition() {
        #expect(LogPosition("0/16B3748")?.rawValue == 0x16B3748)
        #expect(LogPosition("1A/0")?.rawValue == 0x1A_0000_0000)
        #expect(LogPosition(rawValue: 0xAB_0000_00FF).description == "AB/FF")
        for text in ["", "/", "0/", "/0", "0", "0/G", "0/123456789", "+0/1", "0/-1", "0/1/2", " 0/1"] {
            #expect(LogPosition(text) == nil, "\(text)")
        }
    }

    @Test("A feed's position survives its text") func feedPosition() {
        let text = "7312345678901234567:2:16385:97c3a0b1:0/16B3748"
        #expect(FeedPosition(text)?.description == text)
        let stored = text + ":3f1c-0-ffffffff-1a"
        #expect(FeedPosition(stored)?.description == stored)
        for text in [
            stored + ":1", text + ":1-2-3", text + ":1-2-3-4-5", text + ":1-2-3-", text + ":1-2-3-100000000",
            "", "1:2:3", "1:2:3:4", "-1:2:3:4:0/1", "1:2:3:4:0/1:", "99999999999999999999:1:1:1:0/1",
        ] {
            #expect(FeedPosition(text) == nil, "\(text)")
        }
    }

    @Test("names are split and quoted as in SQL") func names() {
        #expect(SQLName.split("public.vehicles") == ["public", "vehicles"])
        #expect(SQLName.split("Public.\"My.Table\"") == ["public", "My.Table"])
        #expect(SQLName.split("\"a\"\"b\"") == ["a\"b"])
        #expect(SQLName.quote("a\"b") == "\"a\"\"b\"")
        #expect(SQLName.readable("vehicle_id") == "vehicle_id")
        #expect(SQLName.readable("Order") == "\"Order\"")
        #expect(SQLName.readable("order") == "\"order\"")
        #expect(SQLName.literal("it's") == "'it''s'")
        #expect(SQLName.literal("a\\b") == "E'a\\\\b'")
    }

    @Test("marks are escaped that are one character with the accent after them") func accents() {
        func scalars(_ text: String) -> [Unicode.Scalar] { Array(text.unicodeScalars) }
        #expect(scalars(SQLName.quote("a\"\u{301}b")) == scalars("\"a\"\"\u{301}b\""))
        #expect(scalars(SQLName.literal("a'\u{301}b")) == scalars("'a''\u{301}b'"))
        #expect(scalars(SQLName.literal("a\\\u{301}'")) == scalars("E'a\\\\\u{301}'''"))
    }

    @Test("the default slot name has the machine's id, fits, and differs with the scope") func slotNames() {
        let machine = "3d1219c7c4c5404aaa1f6d2a48adfda4"
        let name = SlotName.standard(machine: machine, label: "Vehicles in Zürich", scope: "/var/lib/clusterd")
        #expect(name.contains(machine))
        #expect(name.hasPrefix("clusterd_"))
        #expect(SlotName.isValid(name))
        #expect(name != SlotName.standard(machine: machine, label: "Vehicles in Zürich", scope: "/srv"))
        #expect(name == SlotName.standard(machine: machine, label: "Vehicles in Zürich", scope: "/var/lib/clusterd"))
        #expect(SlotName.isValid(SlotName.standard(machine: SlotName.machineID, label: "", scope: "")))
        for name in ["", "A", "a-b", String(repeating: "a", count: 64)] { #expect(!SlotName.isValid(name)) }
    }
}
