// SPDX-License-Identifier: MIT
import Testing

@testable import RPC

@Suite("Input claims")
struct InputClaimTests {
    @Test("charges the user and the total with exactly the set amount")
    func charges() {
        let budget = InputBudget(.messages)
        let shares = [UserShare(.user(1)), UserShare(.user(2))]
        var claims = shares.map { [InputClaim(in: budget, of: $0), InputClaim(in: budget, of: $0)] }
        var number = 1
        for step in 0..<400 {
            number = number &* 1_103_515_245 &+ 12_345
            claims[step % 2][number & 1].bytes = number >> 8 & 0xffff
            for user in 0..<2 {
                #expect(shares[user][.messages] == claims[user][0].bytes + claims[user][1].bytes)
            }
            #expect(budget.bytes == shares.reduce(0) { $0 + $1[.messages] })
        }
        for user in 0..<2 { for claim in 0..<2 { claims[user][claim].bytes = 0 } }
        #expect(budget.bytes == 0)
        #expect(shares.allSatisfy { $0[.messages] == 0 })
    }
}
