// SPDX-License-Identifier: MIT
import Testing

@testable import EventLoop

@Suite("When a loop polls") struct PollingPolicyTests {
    private var policy = PollingPolicy(window: 50)
    private var time: UInt64 = 1000

    /// Input arrives `gap` after the loop has become idle; returns whether the loop polls afterwards.
    private mutating func input(after gap: UInt64) -> Bool {
        time += gap
        policy.inputArrived(at: time)
        time += 3
        return policy.becameIdle(at: time) != nil
    }

    @Test("a loop sleeps until input has often followed soon") mutating func sleepsUntilInputIsFrequent() {
        let polls = (0..<12).map { _ in input(after: 90) }
        // The first input followed on nothing.
        #expect(polls == Array(repeating: false, count: 8) + Array(repeating: true, count: 4))
        #expect(policy.becameIdle(at: 5000) == 5050)
    }

    @Test("a loop whose input arrives rarely never polls", arguments: [101, 1000, 1_000_000] as [UInt64])
    mutating func neverPollsForRareInput(gap: UInt64) {
        for _ in 0..<100 { #expect(!input(after: gap)) }
    }

    @Test("a loop whose input arrives in pairs never polls") mutating func neverPollsForPairs() {
        for number in 0..<100 { #expect(!input(after: number % 2 == 0 ? 10 : 100_000)) }
    }

    @Test("a single pause does not end polling, two in a row do") mutating func stopsPollingAfterTwoPauses() {
        for _ in 0..<30 { _ = input(after: 10) }
        #expect(input(after: 100_000))
        #expect(input(after: 10))
        #expect(!input(after: 100_000))
    }

    /// The number of inputs that follow soon before the loop polls again.
    private mutating func inputsUntilPolling() -> Int {
        (1...2000).first { _ in input(after: 90) } ?? .max
    }

    @Test("each time that polling is useless, twice as many inputs must follow soon before the loop polls again")
    mutating func doublesThresholdAfterUselessPolling() {
        var inputs: [Int] = []
        for _ in 0..<10 {
            inputs.append(inputsUntilPolling())
            policy.pollingWasUseless()
        }
        // The first input followed on nothing. The first input after a useless poll counts.
        #expect(inputs == [9, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024])
    }

    @Test("useful polling makes the loop poll as readily as at first again")
    mutating func usefulPollingResetsThreshold() {
        _ = inputsUntilPolling()
        for _ in 0..<3 {
            policy.pollingWasUseless()
            _ = inputsUntilPolling()
        }
        for _ in 0..<200 { #expect(input(after: 10)) }
        policy.pollingWasUseless()
        #expect(inputsUntilPolling() == 16)
    }

    @Test("without a window a loop never polls") mutating func neverPollsWithoutWindow() {
        policy = PollingPolicy(window: 0)
        for _ in 0..<30 { #expect(!input(after: 0)) }
    }
}
