// SPDX-License-Identifier: MIT
import Testing

@testable import HTTPServer

@Suite("Age order") struct AgeOrderTests {
    @Test("the oldest keys are removed first, and adding a key again makes it the youngest")
    func keysLeaveByAge() {
        var order = AgeOrder<Int>()
        for key in [1, 2, 3, 1] { order.add(key) }
        #expect(order.takeOldest() == 2)
        order.add(3)
        #expect(order.takeOldest() == 1)
        #expect(order.takeOldest() == 3)
        #expect(order.takeOldest() == nil && order.count == 0)
    }

    @Test("keys that are added again and again take no more memory")
    func keysThatAreAddedAgainTakeNoMoreMemory() {
        var order = AgeOrder<Int>()
        for number in 0..<100_000 { order.add(number % 10) }
        #expect(order.count == 10 && order.entries <= 2000)
        #expect((0..<10).map { _ in order.takeOldest() } == Array(0..<10))
        // The same while keys leave.
        for number in 0..<100_000 {
            order.add(number)
            if order.count > 10 { #expect(order.takeOldest() == number - 10) }
        }
        #expect(order.entries <= 2000)
    }
}
