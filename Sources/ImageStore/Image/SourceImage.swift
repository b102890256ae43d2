// SPDX-License-Identifier: MIT
import Compression
import Glibc
import Synchronization
import SystemSupport

/// A snapshot's bytes in memory, page by page: a page is read from the file and compared with its checksum
/// when it is first touched.
///
/// A small file is read when the image is made, and so is any file if the system does not permit anything
/// else (`FaultingMemory`). Of a large one pages are filled when they are read, and evicted when `PageMemory`
/// needs room. A reader never sees that: it waits until the page is filled again. If a page cannot be read,
/// or is not what was written, it contains zeros, and `isDamaged` is true before any thread can read them. So
/// what was made of an image is right if the image is not damaged afterwards, and a reader must end, not
/// trap, and read inside the bytes, whatever mixture of values and zeros it sees.
///
/// Later changes of the file do not affect filled pages. Safe from any thread.
package final class SourceImage: Sendable {
    /// In bytes.
    package static let pageSize = 1 << 14

    /// The bytes. No system call must be given an address in them.
    package nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
    package var path: String { pages.file.path }
    private let pages: ImagePages

    /// - Parameters:
    ///   - file: open for reading.
    ///   - size: how many of its bytes belong to the image.
    ///   - checksums: of its pages; the last is as long as `size` says.
    ///   - text: the bytes of features' text.
    ///   - replaceable: bytes that can be made again from others, in whole pages.
    ///   - memory: nil: all is read now.
    package init(
        _ file: FileDescriptor, path: String, size: Int, checksums: [UInt64], text: Range<Int>,
        replaceable: Range<Int> = 0..<0, memory: PageMemory?
    ) throws(StateFault) {
        let file = PagedFile(
            file: file, path: path, size: size, checksums: checksums, replaceable: PagedFile.wholePages(replaceable))
        let whole = file.pageCount * Self.pageSize
        if let memory, whole > 0, let faulting = FaultingMemory(size: whole, unit: Self.pageSize) {
            let pages = ImagePages(file, text: text, faulting, memory)
            if pages.begin() {
                (self.pages, bytes) = (pages, UnsafeRawBufferPointer(rebasing: faulting.bytes[..<size]))
                return
            }
        }
        guard let block = LoadedBlock(size) else {
            throw StateFault(FileIO.failure(errno, "make room for", path))
        }
        (pages, bytes) = (ImagePages(file, block), UnsafeRawBufferPointer(block.memory))
        if try file.load(into: block.memory) { pages.hasLost.store(true, ordering: .relaxed) }
    }

    deinit { pages.end() }

    /// Whether pages may be evicted. If not, all bytes are in memory.
    package var isEvictable: Bool { pages.faulting != nil }

    /// Whether everything but features' text is in memory now.
    package var isResident: Bool { !isEvictable || pages.isIndexResident }

    /// Whether a page could not be read, or was not what was written. Never becomes false again.
    package var isDamaged: Bool { pages.hasFailed.load(ordering: .acquiring) }

    /// Whether replaceable bytes were found damaged before anything was made of them. Then they must not be used.
    package var hasLost: Bool { pages.hasLost.load(ordering: .acquiring) }

    /// Why a page could not be read; nil if it was damaged, or none failed.
    package var failure: FileError? { pages.failure.withLock { $0 } }

    /// Does what happens if a page is damaged; for tests.
    package func fail() { pages.hasFailed.store(true, ordering: .releasing) }

    /// The number of bytes in memory.
    package var residentBytes: Int { isEvictable ? pages.residentCount * Self.pageSize : bytes.count }

    /// Whether some bytes are in memory now; true for bytes outside the image. Moves pages that the system has in its page
    /// cache, if there is room for them. Does not wait for threads that fill pages.
    ///
    /// - Parameter room: how many pages may still be moved.
    package func isResident(_ part: UnsafeRawBufferPointer, room: inout Int) -> Bool {
        guard isEvictable, !part.isEmpty else { return true }
        let start = offset(of: part)
        guard bytes.indices.contains(start) else { return true }
        let range = start..<min(bytes.count, start + part.count)
        for page in range.lowerBound / Self.pageSize...(range.upperBound - 1) / Self.pageSize
        where !pages.isResident(page) {
            guard room > 0, pages.fillWithoutWaiting(page) else { return false }
            room -= 1
        }
        return true
    }

    /// Reads the pages of some addresses that are not in memory: the system reads them side by side, and this thread fills
    /// them. A reader would wait for one after another otherwise, each time for the thread that fills pages.
    ///
    /// - Returns: the number of these pages.
    @discardableResult package func readAhead(_ addresses: [UnsafeRawPointer]) -> Int {
        guard isEvictable, let start = bytes.baseAddress else { return 0 }
        let offsets = addresses.lazy.map { $0 - start }.filter { [bytes] in bytes.indices.contains($0) }
        let touched = Set(offsets.map { $0 / Self.pageSize })
        let missing = touched.filter { !pages.isResident($0) }
        // The first touch of a single page reads it as soon.
        if missing.count > 1 {
            let sorted = missing.sorted()
            for page in sorted { pages.file.file.willRead(pages.file.range(of: page)) }
            pages.fill(sorted.prefix(Self.mostFilled))
        }
        return missing.count
    }

    /// Reads the pages of some bytes that are not in memory, as long as there is room and none is damaged. For threads that
    /// may wait.
    ///
    /// - Parameters:
    ///   - part: bytes outside the image are ignored.
    ///   - goesOn: called before each page.
    package func readAhead(_ part: UnsafeRawBufferPointer, while goesOn: () -> Bool) {
        let start = offset(of: part)
        guard isEvictable, !part.isEmpty, bytes.indices.contains(start) else { return }
        let end = min(bytes.count, start + part.count)
        pages.fillAhead(start / Self.pageSize...(end - 1) / Self.pageSize, while: goesOn)
    }

    /// How many pages a reader fills at once: few enough not to evict the first of them again.
    private static let mostFilled = 1024

    /// Reads bytes from the file, compares them, and does not keep them in memory: for readers of all of it.
    ///
    /// - Parameters:
    ///   - range: begins with a page, and ends with one or with the image.
    ///   - target: as many bytes.
    /// - Returns: false if they cannot be read; the image is damaged then.
    package func copy(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) -> Bool {
        guard isEvictable else {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
            return true
        }
        return pages.read(range, into: target)
    }

    /// The offset of some of its bytes.
    package func offset(of part: UnsafeRawBufferPointer) -> Int {
        guard let start = part.baseAddress, let own = bytes.baseAddress else { return 0 }
        return start - own
    }

    /// Compares the pages of some bytes, or all, with their checksums, without keeping them. Those of replaceable
    /// bytes may be damaged: then `hasLost` is true. False if others cannot be read.
    ///
    /// - Parameter goesOn: called after each part of 64 pages, and may wait. If false, the rest is not verified.
    /// - Complexity: O(bytes), at several gigabytes per second from the page cache.
    package func verify(_ range: Range<Int>? = nil, goesOn: () -> Bool = { true }) -> Bool {
        let range = range ?? bytes.indices
        guard isEvictable, !range.isEmpty else { return !isDamaged }
        let first = range.lowerBound / Self.pageSize * Self.pageSize
        let end = pages.file.range(of: (range.upperBound - 1) / Self.pageSize).upperBound
        let window = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(64, (end - first) / Self.pageSize + 1) * Self.pageSize, alignment: 16)
        defer { window.deallocate() }
        for start in stride(from: first, to: end, by: window.count) {
            guard !isDamaged,
                pages.read(start..<min(start + window.count, end), into: window, toleratesLoss: true)
            else { return false }
            guard goesOn() else { break }
        }
        return !isDamaged
    }
}

/// A file whose pages have checksums.
struct PagedFile: Sendable {
    let file: FileDescriptor
    let path: String
    let size: Int
    let checksums: [UInt64]
    /// Pages whose content can be made again.
    let replaceable: Range<Int>

    /// The pages that lie entirely in a range of bytes.
    static func wholePages(_ range: Range<Int>) -> Range<Int> {
        let size = SourceImage.pageSize
        let first = (range.lowerBound + size - 1) / size
        return first..<max(first, range.upperBound / size)
    }

    var pageCount: Int { (size + SourceImage.pageSize - 1) / SourceImage.pageSize }

    func range(of page: Int) -> Range<Int> {
        page * SourceImage.pageSize..<min(size, (page + 1) * SourceImage.pageSize)
    }

    /// Whether a page's bytes are what was written. The first page is the header, which has a checksum of its own.
    func isIntact(_ page: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        page == 0 || BlockChecksum.of(bytes) == checksums[page]
    }

    /// Reads bytes; throws if there are fewer.
    func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer) throws(FileError) {
        try FileIO.read(range, of: file, into: target, path: path)
    }

    /// Reads all pages, on all cores.
    ///
    /// - Returns: whether replaceable pages are damaged.
    func load(into target: UnsafeMutableRawBufferPointer) throws(StateFault) -> Bool {
        let hasLost = Atomic<Bool>(false)
        let found = Mutex<(page: Int, fault: StateFault)?>(nil)
        nonisolated(unsafe) let target = target
        let step = 64
        // Not on the process's shared threads: a disk that does not answer must not take them from other sources.
        let steps = (pageCount + step - 1) / step
        Parallel(.own, threads: size < 1 << 20 ? 1 : AvailableProcessors.count).forEach(below: steps) { number in
            let pages = number * step..<min((number + 1) * step, pageCount)
            let range = range(of: pages.lowerBound).lowerBound..<range(of: pages.upperBound - 1).upperBound
            do throws(FileError) {
                try read(range, into: UnsafeMutableRawBufferPointer(rebasing: target[range]))
            } catch {
                return found.withLock { $0 = (-1, StateFault(error)) }
            }
            for page in pages
            where !isIntact(page, UnsafeRawBufferPointer(rebasing: target[self.range(of: page)])) {
                guard !replaceable.contains(page) else {
                    hasLost.store(true, ordering: .relaxed)
                    continue
                }
                found.withLock { if page < $0?.page ?? .max { $0 = (page, damage(page)) } }
                return
            }
        }
        if let found = found.withLock({ $0 }) { throw found.fault }
        return hasLost.load(ordering: .relaxed)
    }

    func damage(_ page: Int) -> StateFault {
        StateFault("\(path) is damaged in bytes \(range(of: page))")
    }
}

/// The pages of an image, with the thread that fills them.
///
/// Invariant: with `faulting`, a page has memory exactly while `isFilled` says so; both change with the lock held. A
/// reader without the lock may see a page that is just being evicted, and then waits until it is filled again.
final class ImagePages: PageMemory.Holder {
    let file: PagedFile
    let faulting: FaultingMemory?
    let hasFailed = Atomic<Bool>(false)
    let hasLost = Atomic<Bool>(false)
    let failure = Mutex<FileError?>(nil)
    private let memory: PageMemory?
    private let block: LoadedBlock?
    private let text: Range<Int>
    private let isFilled: PageFlags
    private let state = Mutex(State())
    /// Pages that are not of text and have no memory.
    private let missing: Atomic<Int>

    private struct State {
        var count = 0
        var hasEnded = false
    }

    /// - Parameter text: bytes of features' text.
    init(_ file: PagedFile, text: Range<Int>, _ faulting: FaultingMemory, _ memory: PageMemory) {
        (self.file, self.faulting, self.memory, block) = (file, faulting, memory, nil)
        self.text = PagedFile.wholePages(text)
        isFilled = PageFlags(count: file.pageCount)
        missing = Atomic(file.pageCount - self.text.count)
    }

    /// The pages of a file that is read as a whole.
    init(_ file: PagedFile, _ block: LoadedBlock) {
        (self.file, self.block, faulting, memory, text) = (file, block, nil, nil, 0..<0)
        isFilled = PageFlags(count: 0)
        missing = Atomic(0)
    }

    var isIndexResident: Bool { missing.load(ordering: .relaxed) == 0 }
    var residentCount: Int { state.withLock { $0.count } }
    func isResident(_ page: Int) -> Bool { isFilled[page] }

    /// Starts the thread; false if the system refuses it.
    func begin() -> Bool { BackgroundThread.detach { [self] in fillWhatIsRead() } }

    /// No thread reads the pages any more.
    func end() {
        state.withLock { $0.hasEnded = true }
        faulting?.stop()
        memory?.forget(self)
    }

    private func fillWhatIsRead() {
        guard let faulting else { return }
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceImage.pageSize, alignment: 4096)
        defer { window.deallocate() }
        var ahead = 0
        while true {
            let readsAhead = wantsAll && ahead < file.pageCount
            switch faulting.wait(blocks: !readsAhead) {
            case .ended: return
            case .read(let offset): fill(offset / SourceImage.pageSize, window)
            case .none where readsAhead:
                if !text.contains(ahead), !isResident(ahead) { fill(ahead, window, isAhead: true) }
                ahead += 1
            case .none: break
            }
            if !readsAhead, ahead > 0, missing.load(ordering: .relaxed) > 0 { ahead = 0 }
        }
    }

    /// Whether so much of the index has been read that the rest is worth its memory: queries of an index in
    /// memory run on the loop.
    private var wantsAll: Bool {
        let rest = missing.load(ordering: .relaxed)
        guard rest > 0, !hasLost.load(ordering: .relaxed), let memory else { return false }
        return rest < (file.pageCount - text.count) / 4 * 3 && memory.hasRoom(for: rest * SourceImage.pageSize)
    }

    /// Fills pages on this thread.
    func fill(_ pages: some Sequence<Int>) {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceImage.pageSize, alignment: 4096)
        defer { window.deallocate() }
        for page in pages { fill(page, window) }
    }

    /// Fills pages on this thread before they are read, unless others would have to be evicted.
    func fillAhead(_ pages: ClosedRange<Int>, while goesOn: () -> Bool) {
        guard let memory else { return }
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceImage.pageSize, alignment: 4096)
        defer { window.deallocate() }
        for page in pages where !isResident(page) {
            let hasRoom = text.contains(page) ? memory.hasRoomForText : memory.hasRoom(for: SourceImage.pageSize)
            guard hasRoom, !hasFailed.load(ordering: .relaxed), !hasLost.load(ordering: .relaxed),
                goesOn()
            else { return }
            fill(page, window, isAhead: true)
        }
    }

    /// Reads a page, and lets the threads go on that wait for it.
    ///
    /// - Parameter isAhead: whether no thread has read it yet.
    private func fill(_ page: Int, _ window: UnsafeMutableRawBufferPointer, isAhead: Bool = false) {
        // Another thread reported the page before it was filled.
        guard !isResident(page) else { return wake(page) }
        let range = file.range(of: page)
        // The rest of the last page.
        UnsafeMutableRawBufferPointer(rebasing: window[range.count...]).initializeMemory(as: UInt8.self, repeating: 0)
        let isRead = read(range, into: window, toleratesLoss: isAhead)
        if isAhead, hasLost.load(ordering: .relaxed) { return }
        let content = isRead ? UnsafeRawBufferPointer(window) : nil
        // Those that wait look again. If the system had no memory, they report the page again.
        guard state.withLock({ install(page, content, &$0) }) else { return wake(page) }
        wasFilled()
    }

    /// Gives a page its memory, with the lock held.
    ///
    /// - Parameter content: nil for zeros.
    /// - Returns: false if it has memory, or the system has none for it.
    private func install(_ page: Int, _ content: UnsafeRawBufferPointer?, _ state: inout State) -> Bool {
        let start = page * SourceImage.pageSize
        let isText = text.contains(page)
        guard !state.hasEnded, !isFilled[page] else { return false }
        // Counted before a reader goes on. It can be evicted only once the lock is released.
        memory?.add(page, of: self, isText: isText)
        if !isText { missing.subtract(1, ordering: .relaxed) }
        guard faulting?.fill(start..<start + SourceImage.pageSize, content) == true else {
            if !isText { missing.add(1, ordering: .relaxed) }
            return false
        }
        isFilled[page] = true
        state.count += 1
        return true
    }

    private func wasFilled() {
        memory?.trim()
        memory?.whenFilled.withLock { $0 }?()
    }

    private func wake(_ page: Int) {
        faulting?.wake(page * SourceImage.pageSize..<(page + 1) * SourceImage.pageSize)
    }

    func evict(_ page: Int) {
        let isEvicted = state.withLock { state in
            guard !state.hasEnded, isFilled[page] else { return false }
            isFilled[page] = false
            state.count -= 1
            faulting?.discard(page * SourceImage.pageSize..<(page + 1) * SourceImage.pageSize)
            return true
        }
        if isEvicted, !text.contains(page) { missing.add(1, ordering: .relaxed) }
    }

    /// Fills a page from the system's page cache; false if it is not there, if another thread fills one, if others would have to
    /// be evicted, or if it is damaged, which its next reader finds.
    func fillWithoutWaiting(_ page: Int) -> Bool {
        guard memory?.hasRoom(for: SourceImage.pageSize) ?? false else { return false }
        return withUnsafeTemporaryAllocation(byteCount: SourceImage.pageSize, alignment: 16) { window in
            let range = file.range(of: page)
            window.initializeMemory(as: UInt8.self, repeating: 0)
            let content = UnsafeMutableRawBufferPointer(rebasing: window[..<range.count])
            guard file.file.readCached(content, at: range.lowerBound),
                file.isIntact(page, UnsafeRawBufferPointer(content))
            else { return false }
            let bytes = UnsafeRawBufferPointer(window)
            guard let isNew = state.withLockIfAvailable({ install(page, bytes, &$0) }) else { return false }
            if isNew { wasFilled() } else { wake(page) }
            return isFilled[page]
        }
    }

    /// Reads and compares whole pages.
    ///
    /// - Parameters:
    ///   - target: at least as many bytes.
    ///   - toleratesLoss: whether replaceable pages may be damaged, since the caller makes nothing of them.
    ///     Then `hasLost` is true.
    func read(_ range: Range<Int>, into target: UnsafeMutableRawBufferPointer, toleratesLoss: Bool = false) -> Bool {
        do throws(FileError) { try file.read(range, into: target) } catch {
            failure.withLock { $0 = $0 ?? error }
            hasFailed.store(true, ordering: .releasing)
            return false
        }
        let size = SourceImage.pageSize
        for page in range.lowerBound / size..<(range.upperBound + size - 1) / size {
            let own = file.range(of: page)
            let bytes = target[own.lowerBound - range.lowerBound..<own.upperBound - range.lowerBound]
            guard file.isIntact(page, UnsafeRawBufferPointer(rebasing: bytes)) else {
                if toleratesLoss, file.replaceable.contains(page) {
                    hasLost.store(true, ordering: .releasing)
                    continue
                }
                hasFailed.store(true, ordering: .releasing)
                return false
            }
        }
        return true
    }
}

/// The bytes of a file that is read as a whole.
///
/// Invariant: `memory` is one anonymous mapping that exists until `deinit`. Only the image's `init` writes it.
final class LoadedBlock: @unchecked Sendable {
    let memory: UnsafeMutableRawBufferPointer

    /// - Returns: nil if there is no room.
    init?(_ size: Int) {
        let room = mmap(nil, max(1, size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let room, room != MAP_FAILED else { return nil }
        memory = UnsafeMutableRawBufferPointer(start: room, count: size)
        LargePages.advise(memory)
    }

    deinit { munmap(memory.baseAddress, max(1, memory.count)) }
}
