// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import ImageStore
@testable import SystemSupport

@Suite("Journals") struct JournalTests {
    /// A record of this suite: a number and any bytes.
    private struct Record: StoredRecord, Equatable {
        let revision: UInt64
        let text: [UInt8]

        init(_ revision: UInt64, _ text: [UInt8]) { (self.revision, self.text) = (revision, text) }

        init?(payload: ArraySlice<UInt8>) {
            guard payload.count >= 8 else { return nil }
            revision = SectionFile.number(at: 0, in: Array(payload))
            text = Array(payload.dropFirst(8))
        }

        var payload: [UInt8] { withUnsafeBytes(of: revision) { Array($0) } + text }
    }

    private static let records = [Record(11, [1, 2, 3]), Record(12, []), Record(15, Array(repeating: 9, count: 700))]

    /// A journal of the records above.
    private static func write(_ folder: StateFolder, _ name: String = "1.journal") throws -> JournalWriter {
        var writer = try JournalWriter(
            creating: folder.path + "/" + name, beside: folder.path + "/new", generation: 1, revision: 10,
            previous: nil, hasBegun: true)
        for record in records { try writer.append(record.payload) }
        return writer
    }

    private static func read(_ folder: StateFolder, _ name: String = "1.journal") throws -> JournalReader<Record> {
        try JournalReader(folder.path + "/" + name)
    }

    @Test("return their records, and continue after the last one") func roundTrip() throws {
        let folder = try StateFolder()
        _ = try Self.write(folder)
        let reader = try Self.read(folder)
        #expect(reader.records == Self.records)
        #expect(reader.newestRevision == 15)
        #expect(reader.header?.generation == 1)
        #expect(reader.damage == nil)
        #expect(reader.note == nil)
        #expect(reader.tornBytes == 0)
        #expect(reader.hasBegun)
        #expect(reader.laterRecords.isEmpty)
        #expect(folder.names == ["1.journal"])
        var writer = try JournalWriter(continuing: reader)
        try writer.append(Record(16, [4]).payload)
        #expect(try Self.read(folder).records == Self.records + [Record(16, [4])])
    }

    @Test("have no effect until they begin, and none once that is undone") func begin() throws {
        let folder = try StateFolder()
        var writer = try JournalWriter(
            creating: folder.path + "/a", beside: folder.path + "/new", generation: 3, revision: 5,
            previous: nil, hasBegun: false)
        #expect(try Self.read(folder, "a").isUncommitted)
        try writer.begin()
        #expect(try !Self.read(folder, "a").isUncommitted)
        #expect(try Self.read(folder, "a").hasBegun)
        try writer.unbegin()
        #expect(try Self.read(folder, "a").isUncommitted)
    }

    @Test("name the journal that they continue") func continuation() throws {
        let folder = try StateFolder()
        _ = try JournalWriter(
            creating: folder.path + "/a", beside: folder.path + "/new", generation: 9, revision: 5,
            previous: 8, hasBegun: true)
        let reader = try Self.read(folder, "a")
        let header = try #require(reader.header)
        #expect(header.continues)
        #expect(header.previous == 8)
        #expect(reader.newestRevision == 5)
    }

    @Test("that end within an unacknowledged record lose only that record") func torn() throws {
        let folder = try StateFolder()
        _ = try Self.write(folder)
        let bytes = try folder.bytes("1.journal")
        let payload = Record(20, [1, 2, 3, 4]).payload
        let record = JournalFormat.recordHeader(of: payload, number: 4) + payload
        for count in 1..<record.count {
            try folder.write(bytes + record[..<count], "torn")
            let reader = try Self.read(folder, "torn")
            #expect(reader.records == Self.records)
            #expect(reader.damage == nil)
            #expect(reader.tornBytes == count)
        }
        // The next record takes the torn one's place.
        var writer = try JournalWriter(continuing: try Self.read(folder, "torn"))
        try writer.append(Record(21, []).payload)
        #expect(try Self.read(folder, "torn").records == Self.records + [Record(21, [])])
    }

    @Test("report damage if records are missing that were known to be on disk") func cutShort() throws {
        let folder = try StateFolder()
        _ = try Self.write(folder)
        let bytes = try folder.bytes("1.journal")
        for count in JournalFormat.start..<bytes.count {
            try folder.write(Array(bytes[..<count]), "short")
            let reader = try Self.read(folder, "short")
            #expect(reader.damage != nil, "\(count) bytes")
            #expect(Self.records.starts(with: reader.records), "\(count) bytes")
            #expect(reader.records.count < 3, "\(count) bytes")
        }
        for count in 0..<JournalFormat.start {
            try folder.write(Array(bytes[..<count]), "short")
            #expect(throws: StateFault.self, "\(count) bytes") { try Self.read(folder, "short") }
        }
    }

    @Test("never return a record with a wrong bit") func bits() throws {
        let folder = try StateFolder()
        _ = try Self.write(folder)
        let bytes = try folder.bytes("1.journal")
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            try folder.write(changed, "changed")
            let reader = try Self.read(folder, "changed")
            #expect((reader.header == nil) == (place < SectionFile.headerSize), "byte \(place)")
            guard place >= JournalFormat.start else {
                #expect(reader.records == Self.records, "byte \(place)")
                #expect(reader.damage == nil, "byte \(place)")
                let isUsed = place < JournalFormat.markOffset + 12
                #expect((reader.note != nil) == isUsed, "byte \(place)")
                #expect(reader.damagedBytes?.contains(place) ?? false == isUsed, "byte \(place)")
                continue
            }
            #expect(reader.damage != nil, "byte \(place)")
            #expect(reader.damagedBytes?.contains(place) == true, "byte \(place)")
            // Only the record that has the bit is missing.
            let lost = reader.records.count
            #expect(reader.records == Array(Self.records[..<lost]), "byte \(place)")
            #expect(reader.laterRecords == Array(Self.records[(lost + 1)...]), "byte \(place)")
            #expect(reader.newestRevision == (lost == 2 ? 12 : 15), "byte \(place)")
        }
    }

    @Test("find intact records after damage of any length, and count the missing ones") func laterRecords() throws {
        let folder = try StateFolder()
        var writer = try Self.write(folder)
        for number in 0..<20 { try writer.append(Record(UInt64(20 + number), [1, 2]).payload) }
        let all = try Self.read(folder).records
        let bytes = try folder.bytes("1.journal")
        for count in [1, 24, 40, 100, 700] {
            for filler in [UInt8(0), 0xFF] {
                var changed = bytes
                let start = JournalFormat.start
                changed.replaceSubrange(start..<start + count, with: repeatElement(filler, count: count))
                try folder.write(changed, "changed")
                let reader = try Self.read(folder, "changed")
                #expect(reader.records.isEmpty)
                #expect(!reader.laterRecords.isEmpty)
                #expect(reader.laterRecords == Array(all.suffix(reader.laterRecords.count)))
                let missing = all.count - reader.laterRecords.count
                #expect(reader.damage?.contains("\(missing) changes are missing") == true)
                #expect(missing <= (count < 24 ? 1 : 3))
            }
        }
        // The first sector is gone, and with it header, mark and the first records.
        try folder.write([UInt8](repeating: 0, count: 512) + bytes[512...], "changed")
        let reader = try Self.read(folder, "changed")
        #expect(reader.header == nil)
        #expect(reader.known == nil)
        #expect(reader.damage != nil)
        #expect(reader.laterRecords == Array(all[3...]))
    }

    @Test("with a damaged header and no record are refused") func damagedHeader() throws {
        let folder = try StateFolder()
        _ = try JournalWriter(
            creating: folder.path + "/a", beside: folder.path + "/new", generation: 3, revision: 5,
            previous: nil, hasBegun: true)
        var bytes = try folder.bytes("a")
        bytes[48] ^= 1
        try folder.write(bytes, "a")
        let fault = #expect(throws: StateFault.self) { try Self.read(folder, "a") }
        #expect(fault?.kind == .damage)
        #expect(throws: FileError.self) {
            _ = try Self.write(folder)
            var bytes = try folder.bytes("1.journal")
            bytes[48] ^= 1
            try folder.write(bytes, "1.journal")
            _ = try JournalWriter(continuing: Self.read(folder))
        }
    }

    @Test("with a record of unknown content are refused as a whole") func unknownContent() throws {
        let folder = try StateFolder()
        var writer = try Self.write(folder)
        try writer.append([1, 2, 3])
        let fault = #expect(throws: StateFault.self) { try Self.read(folder) }
        #expect(fault?.message.contains("record 4 of unknown content") == true)
    }

    @Test("that were removed or replaced accept no record") func replaced() throws {
        let folder = try StateFolder()
        var writer = try Self.write(folder)
        try FileManager.default.removeItem(atPath: folder.path + "/1.journal")
        let error = #expect(throws: FileError.self) { try writer.append([]) }
        #expect(error?.description.contains("was removed or replaced") == true)
        try folder.write([], "1.journal")
        #expect(throws: FileError.self) { try writer.append([]) }
        #expect(try folder.bytes("1.journal").isEmpty)
    }
}
