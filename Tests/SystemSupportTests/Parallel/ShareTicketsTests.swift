// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("The shares of a pass")
struct ShareTicketsTests {
    @Test("a worker takes those of its own part first, then those of the next ones")
    func order() {
        let tickets = ShareTickets(workers: 4)
        #expect(!tickets.hasShares)
        for _ in 0..<2 {
            tickets.offer(10)
            #expect(tickets.hasShares)
            #expect([1, 1, 1, 3].map { tickets.take(for: $0) } == [2, 3, 4, 5 + 2])
            #expect((0..<6).map { _ in tickets.take(for: 3) } == [8, 9, 0, 1, 5, 6])
            for worker in 0..<4 { #expect(tickets.take(for: worker) == nil) }
            #expect(!tickets.hasShares)
        }
    }

    @Test("there may be fewer shares than workers") func few() {
        let tickets = ShareTickets(workers: 5)
        tickets.offer(2)
        #expect(Set([tickets.take(for: 0), tickets.take(for: 4)]) == [0, 1])
        #expect(tickets.take(for: 2) == nil)
    }
}
