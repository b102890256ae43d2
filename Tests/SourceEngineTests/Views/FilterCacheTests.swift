// SPDX-License-Identifier: MIT
import SourceTestSupport
import Synchronization
import SystemSupport
import Testing

@testable import SourceEngine

@Suite("Views of filters that several users ask for") struct FilterCacheTests {
    private func key(_ number: UInt8) -> FilterCache.ViewKey {
        FilterCache.ViewKey(revision: 1, filter: [number], zoom: nil)
    }

    @Test("a user's view is built while another user's is", arguments: [UInt64(1), 2])
    func users(_ second: UInt64) throws {
        let test = try TestSource()
        let view = test.source.revision.view
        let cache = FilterCache(budget: 1 << 20)
        let looks = Mutex(0)
        // Whoever waits looks now and then whether it should give up.
        let impatient = Cancellation(of: second) {
            looks.withLock { looks in
                looks += 1
                return looks > 3
            }
        }
        var inner: View?
        _ = try cache.view(key(1), Cancellation(of: 1) { false }) { () throws(SourceError) -> View in
            inner = try? cache.view(key(2), impatient) { () throws(SourceError) -> View in view }
            return view
        }
        // A user's own views are built one after another.
        #expect((inner != nil) == (second == 2))
    }
}
