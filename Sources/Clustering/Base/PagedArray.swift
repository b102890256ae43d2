// SPDX-License-Identifier: MIT

/// An array of trivial values in pages, which copies share until one of them writes. A copy costs eight bytes per page
/// and one reference per group of pages. A write costs at most the copy of one page and of its group's references.
///
/// Invariant: there are pages for `count` values, each of `pageCount` values, all initialised. `pages` has the address
/// of the values of each page in `groups`, in the same order. A page that several groups refer to, or whose group
/// several arrays refer to, is never written. Therefore arrays may be shared between threads, and `@unchecked Sendable`
/// is sound.
struct PagedArray<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private typealias Page = ManagedBuffer<Void, Element>

    private var pages: [UnsafeMutablePointer<Element>] = []
    /// The owners of the pages. Each group but the last has `groupCount` of them, and none is empty.
    private var groups: [[Page]] = []
    private(set) var count = 0

    /// About two thousand bytes per page: as much as is copied in the time of a few waits for memory.
    @inline(__always) private static var shift: Int {
        switch MemoryLayout<Element>.stride {
        case ...4: 9
        case ...8: 8
        case ...24: 7
        default: 6
        }
    }
    @inline(__always) private static var pageCount: Int { 1 << shift }
    @inline(__always) private static var groupShift: Int { 4 }
    @inline(__always) private static var groupCount: Int { 1 << groupShift }

    init() {}

    init(repeating value: Element, count: Int) {
        self.count = count
        let pageCount = (count + Self.pageCount - 1) >> Self.shift
        pages.reserveCapacity(pageCount)
        for _ in 0..<pageCount { appendPage(of: value) }
    }

    @inline(__always) var isEmpty: Bool { count == 0 }
    var indices: Range<Int> { 0..<count }
    /// All values, in order.
    var values: some Sequence<Element> { indices.lazy.map { self[$0] } }
    var memoryBytes: Int { pages.count * (Self.pageCount * MemoryLayout<Element>.stride + 56) }

    /// - Precondition: `0 <= index < count`; only the page's existence is checked.
    @inline(__always) subscript(index: Int) -> Element {
        get {
            // The groups hold the page that is read.
            withExtendedLifetime(groups) { pages[index >> Self.shift][index & (Self.pageCount - 1)] }
        }
        set {
            own(index >> Self.shift)
            withExtendedLifetime(groups) { pages[index >> Self.shift][index & (Self.pageCount - 1)] = newValue }
        }
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
        let page = Page.create(minimumCapacity: Self.pageCount) { _ in }
        page.withUnsafeMutablePointerToElements {
            $0.initialize(repeating: value, count: Self.pageCount)
            pages.append($0)
        }
        if pages.count & (Self.groupCount - 1) == 1 {
            groups.append([page])
        } else {
            groups[groups.count - 1].append(page)
        }
    }

    private mutating func removeLastPage() {
        pages.removeLast()
        groups[groups.count - 1].removeLast()
        if groups[groups.count - 1].isEmpty { groups.removeLast() }
    }

    /// Copies a page unless this array is its only owner.
    @inline(__always) private mutating func own(_ page: Int) {
        // The access copies the group if another array refers to it, so that its pages have two owners.
        if !isKnownUniquelyReferenced(&groups[page >> Self.groupShift][page & (Self.groupCount - 1)]) {
            copy(page)
        }
    }

    @inline(never) private mutating func copy(_ page: Int) {
        let copy = Page.create(minimumCapacity: Self.pageCount) { _ in }
        copy.withUnsafeMutablePointerToElements {
            $0.initialize(from: pages[page], count: Self.pageCount)
            pages[page] = $0
        }
        groups[page >> Self.groupShift][page & (Self.groupCount - 1)] = copy
    }
}
