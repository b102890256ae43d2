// SPDX-License-Identifier: MIT

/// An array of trivial values in pages, which copies share until one of them writes. A copy costs one reference
/// per page, and a write at most the copy of one page.
///
/// Invariant: there are pages for `count` values, each of `pageCount` values, all initialised. A page that
/// several arrays refer to is never written. Therefore arrays may be shared between threads, and `@unchecked
/// Sendable` is sound.
struct PagedArray<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private typealias Page = ManagedBuffer<Void, Element>

    private var pages: [Page] = []
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

    init() {}

    init(repeating value: Element, count: Int) {
        self.count = count
        let pageCount = (count + Self.pageCount - 1) >> Self.shift
        pages.reserveCapacity(pageCount)
        for _ in 0..<pageCount { pages.append(Self.page(of: value)) }
    }

    @inline(__always) var isEmpty: Bool { count == 0 }
    var indices: Range<Int> { 0..<count }
    var memoryBytes: Int { pages.count * (Self.pageCount * MemoryLayout<Element>.stride + 40) }

    /// - Precondition: `0 <= index < count`; only the page's existence is checked.
    @inline(__always) subscript(index: Int) -> Element {
        get {
            pages[index >> Self.shift].withUnsafeMutablePointerToElements { $0[index & (Self.pageCount - 1)] }
        }
        set {
            own(index >> Self.shift)
            pages[index >> Self.shift].withUnsafeMutablePointerToElements {
                $0[index & (Self.pageCount - 1)] = newValue
            }
        }
    }

    mutating func append(_ value: Element) {
        if count == pages.count << Self.shift { pages.append(Self.page(of: value)) }
        count += 1
        self[count - 1] = value
    }

    /// - Precondition: the array is not empty.
    mutating func removeLast() {
        count -= 1
        if count & (Self.pageCount - 1) == 0 { pages.removeLast() }
    }

    /// Copies a page unless this array is its only owner.
    @inline(__always) private mutating func own(_ page: Int) {
        if !isKnownUniquelyReferenced(&pages[page]) { pages[page] = Self.copy(of: pages[page]) }
    }

    private static func page(of value: Element) -> Page {
        let page = Page.create(minimumCapacity: pageCount) { _ in }
        page.withUnsafeMutablePointerToElements { $0.initialize(repeating: value, count: pageCount) }
        return page
    }

    @inline(never) private static func copy(of page: Page) -> Page {
        let copy = Page.create(minimumCapacity: pageCount) { _ in }
        page.withUnsafeMutablePointerToElements { old in
            copy.withUnsafeMutablePointerToElements { $0.initialize(from: old, count: pageCount) }
        }
        return copy
    }
}
