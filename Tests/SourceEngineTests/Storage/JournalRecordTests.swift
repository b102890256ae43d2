// SPDX-License-Identifier: MIT
import JSON
import SystemSupport
import Testing

@testable import SourceEngine

@Suite("Journal records") struct JournalRecordTests {
    private static let records: [JournalRecord] = [
        .update(upserts: Array(#"[{"id":1}]"#.utf8), removals: Array(#"[2,"a"]"#.utf8)),
        .append(Array(#"[{"id":"mark"}]"#.utf8)), .options(["radius": 60]), .expiry(1_700_000_000_123),
        .refill(Array("[]".utf8)), .progress,
    ]

    @Test("each kind is read as it was written", arguments: JournalRecord.Kind.allCases)
    func roundTrip(_ kind: JournalRecord.Kind) throws {
        let record = try #require(Self.records.first { $0.kind == kind })
        let mark = LogMark(position: "0/7", text: "a \"mark\"")
        let logs = [
            nil, FollowedLog(origin: .table("t"), mark: mark),
            FollowedLog(origin: .feed("a \"log\""), mark: LogMark(position: "p\u{e9}")),
        ]
        // Progress is a mark, and nothing without one.
        for log in logs where kind != .progress || log != nil {
            let payload = record.payload(at: Timestamp(milliseconds: 5), revision: 9, log: log)
            let entry = try #require(JournalRecord.Entry(payload: payload[...]))
            #expect(entry.record.kind == kind)
            #expect(entry.revision == 9)
            #expect(entry.moment.milliseconds == 5)
            #expect(entry.mark == log?.mark)
            #expect(entry.feed == log?.origin.feed)
            #expect(entry.record.payload(at: entry.moment, revision: 9, log: log) == payload)
        }
    }

    @Test(
        "anything else is not a record",
        arguments: [
            "", "{}", "[]", #"{"time":1,"revision":1}"#, #"{"time":1,"revision":-1,"append":[]}"#,
            #"{"revision":1,"append":[]}"#, #"{"time":1,"revision":1,"upsert":[]}"#,
            #"{"time":1,"revision":1,"expiry":"a"}"#, #"{"time":1,"revision":1,"unknown":[]}"#,
            #"{"time":1,"revision":1,"position":"x","append":[]}"#,
        ])
    func invalid(_ text: String) {
        #expect(JournalRecord.Entry(payload: Array(text.utf8)[...]) == nil)
    }
}
