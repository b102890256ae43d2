// SPDX-License-Identifier: MIT
import JSON
import Testing

@testable import HTTPServer

@Suite("Recent queries") struct RecentQueriesTests {
    private let resource = Resource.query(.tile, [:])

    private func target(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }

    @Test("a target is parsed once")
    func aTargetIsUnderstoodOnce() {
        var queries = RecentQueries()
        #expect(queries.query(target("/a"), hash: 7) == nil)
        let kept = queries.keep(target("/a"), hash: 7, resource, ["z": 1])
        #expect(queries.query(target("/a"), hash: 7) === kept)
        #expect(kept.params == ["z": 1] && kept.resource == resource)
    }

    @Test("targets of one hash are not confused")
    func targetsOfOneHashAreNotConfused() {
        var queries = RecentQueries()
        _ = queries.keep(target("/a"), hash: 7, resource, ["z": 1])
        #expect(queries.query(target("/b"), hash: 7) == nil)
        #expect(queries.query(target("/ab"), hash: 7) == nil)
        #expect(queries.query(target("/a"), hash: 8) == nil)
        let other = queries.keep(target("/b"), hash: 7, resource, ["z": 2])
        #expect(queries.query(target("/b"), hash: 7) === other)
        #expect(queries.query(target("/a"), hash: 7) == nil)
    }

    @Test("long targets are not kept")
    func longTargetsAreNotKept() {
        var queries = RecentQueries()
        let long = target("/" + String(repeating: "a", count: 200))
        let query = queries.keep(long, hash: 7, resource, ["z": 1])
        #expect(query.params == ["z": 1])
        #expect(queries.query(long, hash: 7) == nil)
    }
}
