// SPDX-License-Identifier: MIT
import Dispatch
import Testing

@testable import ImageStore
@testable import SystemSupport

@Suite("Images that are read on demand") struct SourceImageTests {
    private static let page = SourceImage.pageSize
    private static let values = (0..<UInt32(40 * page / 4)).map { $0 &* 2_654_435_761 }

    private static func write(_ path: String) throws {
        let writer = try SectionFileWriter(path)
        try writer.add(1, values)
        try writer.add(2, [UInt8](repeating: 7, count: 100))
        try writer.finish(generation: 1)
    }

    private static func open(_ path: String, _ memory: PageMemory, text: UInt32 = 9) throws -> SectionFileReader {
        try SectionFileReader(path, .onDemand(memory, from: 0, text: text))
    }

    /// Waits, page by page that is filled, until a condition holds.
    private static func wait(for memory: PageMemory, until isMet: () -> Bool) {
        let filled = DispatchSemaphore(value: 0)
        memory.whenFilled.withLock { $0 = { filled.signal() } }
        while !isMet() { filled.wait() }
    }

    @Test("memory is proportional to what was read, and all of it reads as it was written") func onDemand() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let memory = PageMemory()
        let reader = try Self.open(folder.path + "/a", memory)
        try #require(reader.image.isEvictable, "userfaultfd(2) is not permitted here")
        #expect(memory.bytes == 0)
        #expect(!reader.image.isResident)
        let found = try reader.borrowed(1, of: UInt32.self)
        #expect(found[0] == Self.values[0])
        #expect(memory.bytes == Self.page)
        #expect(found[Self.values.count - 1] == Self.values.last)
        #expect(memory.bytes == 2 * Self.page)
        #expect(found.withValues { Array($0) } == Self.values)
        #expect(!reader.image.isDamaged)
    }

    @Test("the rest is read ahead once a part of it has been read, if there is room") func readsAhead() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let memory = PageMemory()
        let reader = try Self.open(folder.path + "/a", memory)
        try #require(reader.image.isEvictable, "userfaultfd(2) is not permitted here")
        let found = try reader.borrowed(1, of: UInt32.self)
        for page in 0..<16 { #expect(found[page * Self.page / 4] == Self.values[page * Self.page / 4]) }
        Self.wait(for: memory) { reader.image.isResident }
        #expect(reader.image.residentBytes >= 41 * Self.page)
    }

    @Test("text is read ahead as long as there is room for text") func readsAheadAll() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let memory = PageMemory()
        // All of it is text, so that nothing else is read ahead.
        let reader = try Self.open(folder.path + "/a", memory, text: 1)
        try #require(reader.image.isEvictable, "userfaultfd(2) is not permitted here")
        let found: SectionValues<UInt32> = try reader.borrowed(1)
        reader.image.readAhead(reader.bytes(1)) { true }
        #expect(memory.fills == 40, "the section has 40 pages")
        #expect(found.withValues { Array($0) } == Self.values)
        #expect(memory.fills == 40, "nothing was left to read")
        let foreign = [UInt8](repeating: 1, count: 100)
        foreign.withUnsafeBytes { bytes in
            var room = 0
            #expect(reader.image.isResident(bytes, room: &room), "it is not of the image")
            reader.image.readAhead(bytes) { true }
        }
        #expect(memory.fills == 40)

        let ended = try Self.open(folder.path + "/a", memory, text: 1)
        var calls = 0
        ended.image.readAhead(ended.bytes(1)) {
            calls += 1
            return calls < 3
        }
        #expect(ended.image.residentBytes == 2 * Self.page, "it was ended before the third page")

        let small = PageMemory()
        // The least that may be set, of which a quarter is left to text. Other images take almost all of it.
        small.limit = 0
        let other = try Self.open(folder.path + "/a", small, text: 1)
        let pages = small.limit / 4 / Self.page
        var others: [SectionFileReader] = []
        while small.fills + 40 <= pages - 4 {
            let reader = try Self.open(folder.path + "/a", small, text: 1)
            reader.image.readAhead(reader.bytes(1)) { true }
            others.append(reader)
        }
        let left = pages - small.fills
        let values: SectionValues<UInt32> = try other.borrowed(1)
        other.image.readAhead(other.bytes(1)) { true }
        other.image.readAhead(other.bytes(1)) { true }
        #expect(small.fills == pages, "\(left) pages fitted")
        #expect(values.withValues { Array($0) } == Self.values)
    }

    @Test("a damaged page is found when it is read, before any thread sees its zeros") func damage() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let bytes = try folder.bytes("a")
        for place in stride(from: Self.page + 5, to: 41 * Self.page, by: 3 * Self.page + 77) {
            var changed = bytes
            changed[place] ^= 1
            try folder.write(changed, "b")
            let reader = try Self.open(folder.path + "/b", PageMemory())
            let found = try reader.borrowed(1, of: UInt32.self)
            let damaged = place / Self.page
            for page in 1...40 {
                let index = (page - 1) * Self.page / 4
                let isRight = found[index] == Self.values[index]
                #expect(isRight || reader.image.isDamaged, "page \(page)")
                #expect(page == damaged || isRight, "page \(page)")
            }
            #expect(reader.image.isDamaged)
            #expect(!reader.image.verify())
        }
    }

    @Test("a file that is cut short meanwhile is an error of the machine, and nothing ends") func cutShort() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let reader = try Self.open(folder.path + "/a", PageMemory())
        try #require(reader.image.isEvictable, "userfaultfd(2) is not permitted here")
        try folder.write(Array(folder.bytes("a").prefix(3 * Self.page)), "a")
        let found = try reader.borrowed(1, of: UInt32.self)
        #expect(found[0] == Self.values[0])
        #expect(found[Self.values.count - 1] == 0)
        #expect(reader.image.isDamaged)
        #expect(reader.image.failure != nil)
    }

    @Test("several threads read right values while pages are evicted under them") func eviction() throws {
        let folder = try StateFolder()
        // More than the least that pages may take.
        let many = (0..<UInt32(12 << 20)).map { $0 &* 2_654_435_761 }
        let writer = try SectionFileWriter(folder.path + "/a")
        try writer.add(1, many)
        try writer.finish(generation: 1)
        let memory = PageMemory()
        memory.limit = 0
        let reader = try Self.open(folder.path + "/a", memory)
        try #require(reader.image.isEvictable, "userfaultfd(2) is not permitted here")
        let found = try reader.borrowed(1, of: UInt32.self)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var (state, wrong) = (UInt64(thread + 1), 0)
            for _ in 0..<20_000 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let index = Int(state >> 33) % many.count
                if found[index] != many[index] { wrong += 1 }
            }
            #expect(wrong == 0)
        }
        #expect(memory.fills > memory.limit / Self.page)
        // A page is counted, and others evicted for it, just after it is filled.
        Self.wait(for: memory) { reader.image.residentBytes <= memory.limit }
        #expect(memory.bytes <= memory.limit)
        #expect(!reader.image.isDamaged)
    }

    @Test("released images give their memory back") func release() throws {
        let folder = try StateFolder()
        try Self.write(folder.path + "/a")
        let memory = PageMemory()
        do {
            let reader = try Self.open(folder.path + "/a", memory)
            _ = try reader.borrowed(1, of: UInt32.self)[3]
        }
        #expect(memory.bytes == 0)
    }
}
