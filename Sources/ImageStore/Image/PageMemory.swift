// SPDX-License-Identifier: MIT
import Synchronization

/// The memory that pages of all images take together. Safe from any thread.
///
/// Pages are evicted in the order in which they were filled: those of features' text first, as long as it takes more
/// than its part. A page that is read again is filled again, so eviction costs time and nothing else.
package final class PageMemory: Sendable {
    /// Who has pages.
    protocol Holder: AnyObject, Sendable { func evict(_ page: Int) }

    private struct Entry {
        weak var holder: (any Holder)?
        let page: Int
    }

    private struct State {
        var limit = Int.max
        /// Pages in the order in which they were filled, those of text and the others.
        var text = EvictionQueue<Entry>()
        var others = EvictionQueue<Entry>()

        var bytes: Int { (text.count + others.count) * SourceImage.pageSize }
    }

    private let state = Mutex(State())
    private let filled = Atomic<Int>(0)
    /// Called after a page has been filled and others have been evicted for it; for tests.
    let whenFilled = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// The most bytes that pages may take. At least a few pages stay, so that a query can go on.
    package var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = max(newValue, Self.leastBytes) }
            trim()
        }
    }

    /// A query of the largest box reads a few thousand pages. If fewer fit, they are filled again and again,
    /// but it ends.
    private static let leastBytes = 1 << 25

    /// Bytes that pages take.
    package var bytes: Int { state.withLock { $0.bytes } }

    /// How many pages have been filled.
    package var fills: Int { filled.load(ordering: .relaxed) }

    /// Whether so many bytes more fit without evicting pages.
    func hasRoom(for bytes: Int) -> Bool { state.withLock { $0.bytes + bytes <= $0.limit } }

    /// Whether another page of text fits in the part that indexes leave to text, without evicting pages.
    var hasRoomForText: Bool {
        let page = SourceImage.pageSize
        return state.withLock { state in
            state.bytes + page <= state.limit && (state.text.count + 1) * page <= state.limit / Self.textPart
        }
    }

    /// Counts a page that is filled. Then `trim` is to be called.
    func add(_ page: Int, of holder: any Holder, isText: Bool) {
        filled.add(1, ordering: .relaxed)
        state.withLock { state in
            let entry = Entry(holder: holder, page: page)
            if isText { state.text.append(entry) } else { state.others.append(entry) }
        }
    }

    /// Forgets the pages of an image that is released.
    func forget(_ holder: any Holder) {
        state.withLock { state in
            state.text.removeAll { $0.holder === holder }
            state.others.removeAll { $0.holder === holder }
        }
    }

    /// Evicts pages until the others fit.
    func trim() {
        while let entry = next() { entry.holder?.evict(entry.page) }
    }

    /// Takes the page out that is to be evicted next; nil if all fit.
    private func next() -> Entry? {
        state.withLock { state in
            guard state.bytes > state.limit else { return nil }
            let isText = state.text.count * SourceImage.pageSize > state.limit / Self.textPart
            return isText
                ? state.text.popFirst() ?? state.others.popFirst() : state.others.popFirst() ?? state.text.popFirst()
        }
    }

    /// One part of so many is left to text if indexes need the rest.
    private static let textPart = 4
}

/// A queue without gaps in its memory.
private struct EvictionQueue<Element> {
    private var elements: [Element?] = []
    private var first = 0

    var count: Int { elements.count - first }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard first < elements.count else { return nil }
        defer {
            elements[first] = nil
            first += 1
            if first > 1024, first > elements.count / 2 {
                elements.removeFirst(first)
                first = 0
            }
        }
        return elements[first]
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements.removeFirst(first)
        first = 0
        elements.removeAll { $0.map(isRemoved) ?? true }
    }
}
