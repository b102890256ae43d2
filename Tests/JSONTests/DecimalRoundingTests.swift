// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import JSON

@Suite("Rounding to decimals") struct DecimalRoundingTests {
    @Test(
        "halves of the decimal text go away from zero",
        arguments: [
            (1.005, 2, 1.01), (-1.005, 2, -1.01), (2.675, 2, 2.68), (0.5, 0, 1), (1e-7, 6, 0), (9.9996, 3, 10),
            (179.99999999999997, 13, 180), (-179.999, 12, -179.999), (1e300, 3, 1e300), (0.1, 30, 0.1),
            (12.3456789012345678, 14, 12.34567890123457), (0.00000949, 7, 0.0000095), (99.5, 0, 100),
        ] as [(Double, Int, Double)])
    func halves(_ number: Double, _ decimals: Int, _ expected: Double) {
        #expect(number.rounded(decimals: decimals) == expected)
    }

    /// The decimal text, rounded digit by digit by Foundation.
    private func reference(_ number: Double, _ decimals: Int) -> Double {
        var (value, result) = (Decimal(string: "\(number.magnitude)") ?? 0, Decimal())
        NSDecimalRound(&result, &value, decimals, .plain)
        return Double("\(result)").map { number < 0 ? -$0 : $0 } ?? .nan
    }

    @Test("numbers of all lengths are rounded as their decimal texts are") func texts() {
        var state: UInt64 = 11
        for round in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var number = Double(state >> 11) / Double(1 << 53) * 360 - 180
            if round % 3 == 0 { number = Double(Int(number * 1e5)) / 1e5 }
            let decimals = Int(state >> 5 % 16) % 16
            #expect(number.rounded(decimals: decimals) == reference(number, decimals), "\(number) \(decimals)")
        }
    }
}
