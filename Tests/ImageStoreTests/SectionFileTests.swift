// SPDX-License-Identifier: MIT
import Testing

@testable import ImageStore
@testable import SystemSupport

@Suite("Files of sections") struct SectionFileTests {
    private static let sections: [(name: UInt32, values: [UInt16])] = [
        (7, []), (1, [1, 2, 3]), (300, (0..<5000).map { UInt16(truncatingIfNeeded: $0 &* 31) }),
    ]

    /// A file of the sections above.
    private static func write(_ path: String) throws {
        let writer = try SectionFileWriter(path)
        for (name, values) in sections { try writer.add(name, values) }
        try writer.finish(generation: 42)
    }

    private static func read(_ path: String) throws -> SectionFileReader {
        try SectionFileReader(path, .whole)
    }

    /// Reads everything, as a start does.
    private static func readAll(_ path: String) throws -> [[UInt16]] {
        let reader = try read(path)
        return try sections.map { try reader.values($0.name) }
    }

    @Test("return what was written, each section at a multiple of 64") func roundTrip() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let reader = try Self.read(folder.path + "/a")
        #expect(reader.generation == 42)
        #expect(try Self.readAll(folder.path + "/a") == Self.sections.map(\.values))
        for (name, values) in Self.sections {
            #expect(reader.has(name))
            #expect(reader.offset(of: name) % SectionFile.alignment == 0)
            #expect(reader.bytes(name).count == 2 * values.count)
        }
        #expect(!reader.has(2))
        #expect(reader.bytes(2).isEmpty)
    }

    @Test("are not files of clusterd before they are finished") func unfinished() throws {
        let folder = try StateFolder()
        let writer = try SectionFileWriter(folder.path + "/a")
        try writer.add(1, [UInt8](repeating: 1, count: 1000))
        #expect(throws: StateFault.self) { try Self.read(folder.path + "/a") }
    }

    @Test("reject values of another count or width, and sections that are missing") func sizes() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let reader = try Self.read(folder.path + "/a")
        #expect(throws: StateFault.self) { try reader.values(1, count: 4) as [UInt16] }
        #expect(throws: StateFault.self) { try reader.values(1) as [UInt32] }
        #expect(throws: StateFault.self) { try reader.values(2) as [UInt16] }
        #expect(try (reader.values(1, count: 3) as [UInt16]) == [1, 2, 3])
    }

    @Test("are read by several threads, and a wrong byte in any page is damage", arguments: [0, 1, 31, 1 << 14])
    func pages(rest: Int) throws {
        let folder = try StateFolder()
        let large = (0..<3 << 19 + rest).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 5) }
        let writer = try SectionFileWriter(folder.path + "/a", threads: 2)
        try writer.add(1, large)
        try writer.add(2, [UInt8](large.prefix(1000)))
        try writer.finish(generation: 1)
        let reader = try Self.read(folder.path + "/a")
        #expect(try reader.values(1) == large)
        let bytes = try folder.bytes("a")
        for place in stride(from: reader.offset(of: 1), to: reader.offset(of: 1) + large.count, by: (1 << 16) - 1) {
            var damaged = bytes
            damaged[place] ^= 4
            try folder.write(damaged, "b")
            let fault = #expect(throws: StateFault.self) { try Self.read(folder.path + "/b") }
            #expect(fault?.kind == .damage)
        }
    }

    @Test("that are cut short anywhere are damage") func cutShort() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let bytes = try folder.bytes("a")
        for count in Array(0..<200) + Array(stride(from: 200, to: bytes.count, by: 397)) + [bytes.count - 1] {
            try folder.write(Array(bytes[..<count]), "b")
            let fault = #expect(throws: StateFault.self, "\(count) bytes") { try Self.readAll(folder.path + "/b") }
            #expect(fault?.kind == .damage, "\(count) bytes")
        }
    }

    @Test("of which any one bit is wrong are damage, or read the same if it lies between sections") func bits() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let bytes = try folder.bytes("a")
        for place in Array(0..<256) + Array(stride(from: 1 << 14, to: bytes.count, by: 53)) {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            try folder.write(changed, "b")
            do {
                let values = try Self.readAll(folder.path + "/b")
                #expect(values == Self.sections.map(\.values), "byte \(place)")
                #expect(bytes[place] == 0, "byte \(place)")
            } catch let fault as StateFault {
                #expect(fault.kind == .damage, "byte \(place)")
                #expect(fault.message.contains(folder.path + "/b"), "byte \(place)")
            }
        }
    }

    @Test("of a newer version are distinguished from damage, and a damaged version number is damage")
    func newer() throws {
        let folder = try StateFolder()
        var header = SectionFile.header(.snapshot) { SectionFile.store(UInt32(99), at: 8, in: &$0) }
        try folder.write(header, "a")
        let newer = #expect(throws: StateFault.self) { try Self.read(folder.path + "/a") }
        #expect(newer?.kind == .newerFormat)
        #expect(newer?.message.contains("newer clusterd") == true)
        SectionFile.store(UInt32(98), at: 8, in: &header)
        try folder.write(header, "a")
        let damaged = #expect(throws: StateFault.self) { try Self.read(folder.path + "/a") }
        #expect(damaged?.kind == .damage)
    }

    @Test("a missing file is damage, one that cannot be read is the machine's fault") func faults() {
        func fault(_ code: Int32) -> StateFault.Kind {
            StateFault(FileError.failed(action: "open", path: "a", code: code)).kind
        }
        #expect(fault(2) == .damage)
        #expect(fault(5) == .machine)
        #expect(fault(13) == .machine)
    }
}
