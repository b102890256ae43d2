// SPDX-License-Identifier: MIT
import Synchronization

/// The memory of an array in pages and of all its versions: see `PagedArray`.
///
/// Versions are numbered in the order in which they were made; each but the first was made from the one before it. A
/// version that no array has any more is over.
///
/// Records and memory belong to the array that alone has the newest version. The lock protects the rest, therefore
/// `@unchecked Sendable` is sound.
final class PageStore<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    /// The memory of one page. It has two pieces in turn: of the versions that are not over, usually only the newest
    /// reads the one, and none the other.
    struct Record: BitwiseCopyable {
        /// What the newest version reads.
        var current: UnsafeMutablePointer<Element>
        /// What versions from `spareWritten` up to `written` read.
        var spare: UnsafeMutablePointer<Element>?
        /// The number of the version that wrote `current`: the first that reads it.
        var written: Int
        /// Likewise for the spare.
        var spareWritten: Int
        /// In which blocks of the page the spare may differ, as a bit each.
        var changed: UInt32
    }

    /// What a write looks at, in memory of its own so that nothing need be retained for it.
    struct Header: ~Copyable {
        /// The number of the newest version. If an array that alone has a version has an earlier one, another array made
        /// the next one from it, so the array sees that.
        fileprivate let newest = Atomic(0)
        /// By page; only for the array that alone has the newest version.
        fileprivate(set) var records: UnsafeMutablePointer<Record>
        fileprivate var capacity = 4

        fileprivate init() { records = .allocate(capacity: capacity) }

        /// Whether the only array that has a version may write to it.
        @inline(__always) func isNewest(_ version: Int) -> Bool { newest.load(ordering: .relaxed) == version }
    }

    /// Keeps what one version reads until the last array that has it is gone.
    final class Version: Sendable {
        let store: PageStore
        let number: Int
        /// The numbers of the versions that were not over when this one was made. Usually that is one.
        private let others: [Int]

        fileprivate init(_ store: PageStore, number: Int, others: [Int]) {
            (self.store, self.number, self.others) = (store, number, others)
        }

        deinit { store.end(number) }

        /// Whether another version may read what only some versions read.
        @inline(__always) fileprivate func isRead(_ numbers: Range<Int>) -> Bool {
            others.contains { numbers.contains($0) }
        }
    }

    /// About two thousand bytes per page: as much as is copied in the time of a few waits for memory.
    @inline(__always) static var shift: Int {
        switch MemoryLayout<Element>.stride {
        case ...4: 9
        case ...8: 8
        case ...24: 7
        default: 6
        }
    }
    @inline(__always) static var pageCount: Int { 1 << shift }
    /// The binary logarithm of the number of blocks of a page: one is about as large as a line of a processor's cache.
    @inline(__always) static var blockShift: Int { 5 }
    @inline(__always) private static var blockCount: Int { 1 << (shift - blockShift) }

    let header = UnsafeMutablePointer<Header>.allocate(capacity: 1)
    private var count = 0
    /// The memory of all pages, in pieces of many: they are freed together, and large ones go back to the system.
    private var pieces: [UnsafeMutablePointer<Element>] = []
    /// Pages of memory that no version reads.
    private var free: [UnsafeMutablePointer<Element>] = []
    /// Memory that only earlier versions read.
    private var retired: [(memory: UnsafeMutablePointer<Element>, readers: Range<Int>)] = []
    /// The numbers of the versions that are not over, in ascending order.
    private let versions = Mutex<[Int]>([])

    init() { header.initialize(to: Header()) }

    deinit {
        for piece in pieces { piece.deallocate() }
        header.pointee.records.deallocate()
        header.deinitialize(count: 1)
        header.deallocate()
    }

    /// The first version, which has all pages so far.
    func firstVersion() -> Version {
        versions.withLock { $0 = [0] }
        return Version(self, number: 0, others: [])
    }

    /// Makes the version that follows another one.
    ///
    /// - Returns: nil if it has been made before; else also how many pages of memory were freed.
    func version(after version: Version) -> (version: Version, freed: Int)? {
        let others: [Int]? = versions.withLock { versions in
            guard header.pointee.isNewest(version.number) else { return nil }
            header.pointee.newest.store(version.number + 1, ordering: .relaxed)
            defer { versions.append(version.number + 1) }
            return versions
        }
        guard let others else { return nil }
        let next = Version(self, number: version.number + 1, others: others)
        let count = retired.count
        retired.removeAll { page in
            guard !next.isRead(page.readers) else { return false }
            free.append(page.memory)
            return true
        }
        return (next, count - retired.count)
    }

    private func end(_ number: Int) {
        versions.withLock { versions in
            if let index = versions.firstIndex(of: number) { versions.remove(at: index) }
        }
    }

    /// Adds a page of the newest version.
    func appendPage(of value: Element, in version: Version) -> UnsafeMutablePointer<Element> {
        let memory = page()
        memory.initialize(repeating: value, count: Self.pageCount)
        append(Record(current: memory, spare: nil, written: version.number, spareWritten: 0, changed: 0))
        return memory
    }

    /// Adds a page before there is a version.
    func appendPage(copying page: UnsafeMutablePointer<Element>) -> UnsafeMutablePointer<Element> {
        let memory = copy(of: page)
        append(Record(current: memory, spare: nil, written: 0, spareWritten: 0, changed: 0))
        return memory
    }

    private func append(_ record: Record) {
        if count == header.pointee.capacity {
            header.pointee.capacity *= 2
            let larger = UnsafeMutablePointer<Record>.allocate(capacity: header.pointee.capacity)
            larger.moveInitialize(from: header.pointee.records, count: count)
            header.pointee.records.deallocate()
            header.pointee.records = larger
        }
        (header.pointee.records + count).initialize(to: record)
        count += 1
    }

    /// Removes the newest version's last page; returns by how many pages the rest of the memory grew.
    func removeLastPage(in version: Version) -> Int {
        count -= 1
        let record = header.pointee.records[count]
        if let spare = record.spare { retired.append((spare, record.spareWritten..<record.written)) }
        guard record.written == version.number else {
            retired.append((record.current, record.written..<version.number))
            return 1
        }
        free.append(record.current)
        return 0
    }

    /// Makes a page of an earlier version, by its record, one of the newest version.
    ///
    /// - Returns: its memory, and by how many pages the rest of the memory grew.
    func copy(_ place: UnsafeMutablePointer<Record>, in version: Version) -> (
        memory: UnsafeMutablePointer<Element>, growth: Int
    ) {
        let record = place.pointee
        let memory: UnsafeMutablePointer<Element>
        let readers = record.spareWritten..<record.written
        let spare = record.spare.flatMap { version.isRead(readers) ? nil : $0 }
        if let spare {
            update(spare, from: record)
            memory = spare
        } else {
            memory = copy(of: record.current)
            if let spare = record.spare { retired.append((spare, readers)) }
        }
        place.pointee = Record(
            current: memory, spare: record.current, written: version.number, spareWritten: record.written, changed: 0)
        return (memory, spare == nil ? 1 : 0)
    }

    /// Copies to a spare what changed since versions read it.
    @inline(__always) private func update(_ spare: UnsafeMutablePointer<Element>, from record: Record) {
        var changed = record.changed
        while changed != 0 {
            let start = changed.trailingZeroBitCount * Self.blockCount
            changed &= changed &- 1
            (spare + start).update(from: record.current + start, count: Self.blockCount)
        }
    }

    private func copy(of page: UnsafeMutablePointer<Element>) -> UnsafeMutablePointer<Element> {
        let memory = self.page()
        memory.initialize(from: page, count: Self.pageCount)
        return memory
    }

    /// Memory for a page, uninitialised.
    private func page() -> UnsafeMutablePointer<Element> {
        if let page = free.popLast() { return page }
        let pages = min(max(1, count), Self.mostPagesOfPiece)
        let piece = UnsafeMutablePointer<Element>.allocate(capacity: pages * Self.pageCount)
        pieces.append(piece)
        for page in (1..<pages).reversed() { free.append(piece + page * Self.pageCount) }
        return piece
    }

    /// A piece of so many is a megabyte, which the system takes back (see `Allocator.giveBackBlocks`).
    private static var mostPagesOfPiece: Int { 512 }
}
