// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import Clustering

@Suite("Ascending numbers, compressed") struct AscendingNumbersTests {
    @Test("give what a list gives", arguments: [1, 2, 3, 7, 30, 1000, 100_000])
    func equalList(_ step: Int) {
        var random = PythonRandom(seed: UInt32(step))
        for count in [0, 1, 2, 5, 479, 480, 481, 3000] {
            var numbers: [UInt32] = []
            var next = random.randrange(step)
            for _ in 0..<count {
                numbers.append(UInt32(next))
                next += 1 + random.randrange(step)
            }
            let compressed = AscendingNumbers(numbers)
            #expect((0..<count).allSatisfy { compressed[$0] == Int(numbers[$0]) }, "\(count)")
            for number in Set(numbers.suffix(500).flatMap { [Int($0), Int($0) + 1, max(0, Int($0) - 1)] } + [0, next]) {
                let below = numbers.count { $0 < number }
                #expect(compressed.count(below: number) == below, "\(number) of \(count)")
            }
            // The bits of the low part and of a number's rank among all, and whole lines.
            #expect(compressed.memoryBytes <= count * 3 + 200)
        }
    }

    @Test("the greatest number") func greatest() {
        let compressed = AscendingNumbers([0, 5, .max - 1])
        #expect((0..<3).map { compressed[$0] } == [0, 5, Int(UInt32.max) - 1])
        #expect(compressed.count(below: 6) == 2)
        #expect(compressed.count(below: Int(UInt32.max)) == 3)
    }

    @Test("arrays with any bits give some numbers and end") func damaged() {
        let intact = AscendingNumbers((0..<2000).map { UInt32($0 * 37) })
        var random = PythonRandom(seed: 1)
        for _ in 0..<50 {
            var highs = Array(intact.highBytes.bindMemory(to: UInt64.self))
            var lows = Array(intact.lowBytes.bindMemory(to: UInt64.self))
            for _ in 0..<20 {
                highs[random.randrange(highs.count)] = random.randrange(2) == 0 ? 0 : .max
                lows[1 + random.randrange(lows.count - 1)] = .max
            }
            highs.withUnsafeBufferPointer { highs in
                lows.withUnsafeBufferPointer { lows in
                    let owner = Owner()
                    let numbers = AscendingNumbers(count: 2000, highs: highs, lows: lows, owner: owner)
                    for index in 0..<2000 {
                        _ = numbers?[index]
                        #expect((0...2000).contains(numbers?.count(below: index * 41) ?? -1))
                    }
                }
            }
        }
    }

    private final class Owner {}
}
