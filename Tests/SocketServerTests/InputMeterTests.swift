// SPDX-License-Identifier: MIT
import RPC
import Testing

@testable import SocketServer

@Suite("Input meter")
struct InputMeterTests {
    @Test("charges the user and the total with exactly the set amount")
    func charges() {
        let budget = InputBudget(.messages)
        let shares = [UserShare(.user(1)), UserShare(.user(2))]
        var meters = shares.map { InputMeter(budget, $0) }
        var (unfinished, large) = ([0, 0], [0, 0])
        var number = 1
        for step in 0..<400 {
            number = number &* 1_103_515_245 &+ 12_345
            let (meter, count) = (step % 2, number >> 8 & 0xffff)
            if number & 1 == 0 {
                meters[meter].set(unfinished: count)
                unfinished[meter] = count
            } else {
                meters[meter].set(large: count)
                large[meter] = count
            }
            for user in 0..<2 {
                #expect(meters[user].bytes == unfinished[user] + large[user])
                #expect(shares[user].input(.messages) == meters[user].bytes)
            }
            #expect(budget.bytes == meters[0].bytes + meters[1].bytes)
        }
        for user in 0..<2 {
            meters[user].set(unfinished: 0)
            meters[user].set(large: 0)
        }
        #expect(budget.bytes == 0 && shares.allSatisfy { $0.input(.messages) == 0 })
    }
}
