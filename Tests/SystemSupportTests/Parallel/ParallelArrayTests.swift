// SPDX-License-Identifier: MIT
import Testing

@testable import SystemSupport

@Suite("Parallel arrays")
struct ParallelArrayTests {
    @Test(
        "have each element from its place, however many threads make them",
        arguments: [0, 1, 16_384, 524_288, 1_000_003])
    func parallel(count: Int) {
        for threads in 1...3 {
            let array = ParallelArray.make(count: count, threads: threads) { 3 * $0 }
            #expect(array.count == count && array.enumerated().allSatisfy { $1 == 3 * $0 })
        }
    }
}
