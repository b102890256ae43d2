// SPDX-License-Identifier: MIT
import EventLoop
import ReplicationLog
import SystemSupport
import Testing

@testable import PostgresFeed

@Suite("Changes of a transaction") struct ChangeLogTests {
    private static func changes(_ count: Int) -> [TableChange] {
        (0..<count).map { number in
            switch number % 5 {
            case 0: .remove(id: Array("\(number)".utf8))
            case 1:
                .put(
                    FeatureRow(
                        id: Array("\(number)".utf8), previousID: Array("\"old\(number)\"".utf8),
                        template: Array("{\"a\":,\"b\":}".utf8),
                        gaps: [FeatureGap(offset: 5, name: [97]), FeatureGap(offset: 10, name: [98])]))
            case 2 where number % 25 == 2: .clear
            default:
                .put(
                    FeatureRow(
                        id: Array("\(number)".utf8), previousID: nil,
                        template: [UInt8](repeating: 120, count: number % 700), gaps: []))
            }
        }
    }

    @Test("changes come back in order, from memory and from a spool", arguments: [1 << 20, 4096, 0])
    func comesBack(budget: Int) throws {
        let loop = try EventLoop()
        let log = ChangeLog(on: loop, spoolingIn: "/tmp", budget: budget)
        let changes = Self.changes(3000)
        for (number, change) in changes.enumerated() {
            log.append(change, subtransaction: UInt32(number % 3))
        }
        log.count(skipped: .notAPoint)
        loop.run()
        #expect(!log.isWriting)
        let position = FeedPosition(system: 1, timeline: 1, table: 1, layout: 0, log: LogPosition(rawValue: 5))
        let whole = FeedTransaction(position: position, commitMicroseconds: 7, changes: try log.contents())
        #expect(whole.isSpooled == (budget < 1 << 20))
        #expect(whole.changeCount == 3000)
        #expect(whole.skipped[.notAPoint] == 1)
        for _ in 0..<2 {
            var found: [TableChange] = []
            try whole.forEach { found.append($0) }
            #expect(found == changes)
        }
        log.aborted = [1, 9]
        let part = FeedTransaction(position: position, commitMicroseconds: 7, changes: try log.contents())
        var kept: [TableChange] = []
        try part.forEach { kept.append($0) }
        #expect(kept == changes.enumerated().filter { $0.offset % 3 != 1 }.map(\.element))
    }

    @Test("A spool that cannot be made is an error of the transaction") func failsWithoutFolder() throws {
        let loop = try EventLoop()
        let log = ChangeLog(on: loop, spoolingIn: "/tmp/clusterd-no-such-folder", budget: 0)
        log.append(.clear)
        loop.run()
        #expect(throws: (any Error).self) { _ = try log.contents() }
    }

    @Test("missing values are taken from the stored properties, wherever they belong") func fillsGaps() throws {
        let row = FeatureRow(
            id: [49], previousID: nil, template: Array("{\"a\":,\"b\":1,\"c\":}".utf8),
            gaps: [FeatureGap(offset: 5, name: Array("a".utf8)), FeatureGap(offset: 16, name: Array("ü\"".utf8))])
        func fill(_ properties: String) -> String? {
            row.feature(keepingFrom: Array(properties.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(fill(#"{"z":0,"ü\"":"x, y","a":{"b":[1, 2]}}"#) == #"{"a":{"b":[1, 2]},"b":1,"c":"x, y"}"#)
        #expect(fill(#"{"a":1}"#) == nil)
        #expect(fill("null") == nil)
        #expect(fill("") == nil)
        #expect(!row.isComplete)
    }
}
