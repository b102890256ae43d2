// SPDX-License-Identifier: MIT
import CPrefetch

/// An array of trivial values in pages, which copies share until one of them writes. A copy costs eight bytes per page,
/// a write to a shared page at most a copy of the page.
///
/// An index has one version after another, and few are read at the same time. So a page that a new version writes to for
/// the first time is rarely copied as a whole: the memory that it had two versions ago is up to date but for the last
/// changes, and these are copied.
///
/// Invariant: there are pages for `count` values, each of `pageCount` values, all initialised. Only the array that alone
/// has the newest version of a store writes to the store, and only to pages of that version, which no other array has.
/// Therefore arrays may be shared between threads, and `@unchecked Sendable` is sound.
struct PagedArray<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private typealias Store = PageStore<Element>

    private var pages: [UnsafeMutablePointer<Element>] = []
    /// Nil until there is a page.
    private var version: Store.Version?
    /// The store's, and the version's number: so that a write need not retain the version.
    private var header: UnsafeMutablePointer<Store.Header>?
    private var number = 0
    private(set) var count = 0
    /// How many pages of memory the store has beyond `pages`.
    private var spareCount = 0

    @inline(__always) private static var shift: Int { Store.shift }
    @inline(__always) private static var pageCount: Int { Store.pageCount }

    init() {}

    init(repeating value: Element, count: Int) {
        self.init()
        self.count = count
        let pageCount = (count + Self.pageCount - 1) >> Self.shift
        pages.reserveCapacity(pageCount)
        for _ in 0..<pageCount { appendPage(of: value) }
    }

    @inline(__always) var isEmpty: Bool { count == 0 }
    var indices: Range<Int> { 0..<count }
    /// All values, in order.
    var values: some Sequence<Element> { indices.lazy.map { self[$0] } }
    var memoryBytes: Int {
        let page = Self.pageCount * MemoryLayout<Element>.stride + 24
        return pages.count * (page + MemoryLayout<Store.Record>.stride) + spareCount * page
    }

    /// - Precondition: `0 <= index < count`; only the page's existence is checked.
    @inline(__always) subscript(index: Int) -> Element {
        get {
            // The version holds the page that is read.
            withExtendedLifetime(version) { pages[index >> Self.shift][index & (Self.pageCount - 1)] }
        }
        set {
            let (page, offset) = (index >> Self.shift, index & (Self.pageCount - 1))
            own(page).pointee.changed |= 1 << UInt32(truncatingIfNeeded: offset >> (Self.shift - Store.blockShift))
            withExtendedLifetime(version) { pages[page][offset] = newValue }
        }
    }

    /// Fetches the memory of a value, if there is one at the index.
    @inline(__always) func fetch(_ index: Int) {
        guard index < count else { return }
        clusterd_prefetch(pages[index >> Self.shift] + (index & (Self.pageCount - 1)))
    }

    mutating func append(_ value: Element) {
        if count == pages.count << Self.shift { appendPage(of: value) }
        count += 1
        self[count - 1] = value
    }

    /// - Precondition: the array is not empty.
    mutating func removeLast() {
        count -= 1
        if count & (Self.pageCount - 1) == 0 { removeLastPage() }
    }

    private mutating func appendPage(of value: Element) {
        let version = begin()
        pages.append(version.store.appendPage(of: value, in: version))
    }

    private mutating func removeLastPage() {
        let version = begin()
        spareCount += version.store.removeLastPage(in: version)
        pages.removeLast()
    }

    /// Makes a page that no other array has from one that others may have.
    @inline(__always) private mutating func own(_ page: Int) -> UnsafeMutablePointer<Store.Record> {
        if isKnownUniquelyReferenced(&version), let header, header.pointee.isNewest(number) {
            let record = header.pointee.records + page
            if record.pointee.written == number { return record }
        }
        return copy(page)
    }

    @inline(never) private mutating func copy(_ page: Int) -> UnsafeMutablePointer<Store.Record> {
        let version = begin()
        let record = version.store.header.pointee.records + page
        if record.pointee.written != version.number {
            let (memory, growth) = version.store.copy(record, in: version)
            pages[page] = memory
            spareCount += growth
        }
        return record
    }

    /// The version to write to, which no other array has.
    private mutating func begin() -> Store.Version {
        if isKnownUniquelyReferenced(&version), let version, version.store.header.pointee.isNewest(version.number) {
            return version
        }
        let next: Store.Version
        if let version {
            if let (following, freed) = version.store.version(after: version) {
                next = following
                spareCount -= freed
            } else {
                // Another array has a newer version.
                let store = Store()
                for index in pages.indices { pages[index] = store.appendPage(copying: pages[index]) }
                next = store.firstVersion()
                spareCount = 0
            }
        } else {
            next = Store().firstVersion()
        }
        (header, number) = (next.store.header, next.number)
        version = next
        return next
    }
}
