// SPDX-License-Identifier: MIT
import Testing

@testable import JSON

@Suite("Writing JSON") struct ByteWriterTests {
    @Test(
        "numbers as JavaScript prints them",
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-1.5, "-1.5"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
            (123_456_789_012_345_683_968, "123456789012345680000"), (1e-6, "0.000001"), (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"), (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000"),
            (1.7976931348623157e308, "1.7976931348623157e+308"), (Double.leastNonzeroMagnitude, "5e-324"), (100, "100"),
            (-27.255022955157862, "-27.255022955157862"), (2251799813685248.5, "2251799813685248.5"),
            (1.234e25, "1.234e+25"), (0.00012, "0.00012"), (12345.678, "12345.678"),
        ] as [(Double, String)])
    func numbers(_ number: Double, _ text: String) {
        #expect(String(javaScript: number) == text)
    }

    @Test("printed numbers read back the same") func roundTrip() throws {
        var state: UInt64 = 7
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            let number = Double(bitPattern: state)
            guard number.isFinite else { continue }
            #expect(try JSONReader.parse(String(javaScript: number)) == .number(number))
            #expect(Double(String(javaScript: number)) == number)
        }
    }

    /// Numbers such as maps are made of, and those at whose bounds a shortest decimal is easily missed.
    @Test("printed numbers have the shortest digits, the nearest of them") func shortestDigits() {
        func digits(_ text: String) -> Substring {
            let mantissa = text.prefix { $0 != "e" }.filter(\.isNumber)
            let significant = mantissa.drop { $0 == "0" }
            return significant.dropLast(significant.reversed().prefix { $0 == "0" }.count)
        }
        var state: UInt64 = 11
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return (state ^ state >> 29) &* 0xBF58_476D_1CE4_E5B9
        }
        for _ in 0..<10_000 {
            let bits = random()
            let exponent = (1023 - 135 + bits % 200) << 52
            let numbers = [
                Double(bits >> 11) / 0x1p53 * 360 - 180, Double(bits % 3_600_000_000) / 1e7 - 180,
                Double(bits % 1_000_000) / 1000, Double(bitPattern: exponent | bits >> 12),
                Double(bitPattern: exponent | bits >> 62),
                Double(bitPattern: exponent | (0xF_FFFF_FFFF_FFFF - (bits >> 62))),
            ]
            for number in numbers {
                let text = String(javaScript: number)
                #expect(Double(text) == number)
                #expect(digits(text) == digits("\(number)"), "\(number)")
            }
        }
    }

    @Test("numbers that are not finite") func notFinite() {
        #expect(JSONValue.array([.number(.nan), .number(.infinity)]).text == "[null,null]")
        #expect(String(javaScript: -.infinity) == "-Infinity")
        #expect(String(javaScript: .nan) == "NaN")
    }

    @Test("strings are escaped only if JSON requires it") func strings() {
        let text = "a\"b\\c\u{8}\t\n\u{c}\r\u{1}\u{1f}é😀/"
        #expect(JSONValue.string(text).text == #""a\"b\\c\b\t\n\f\r\u0001\u001fé😀/""#)
    }

    @Test("integers", arguments: [0, 1, -1, 9, 10, 1_234_567_890, Int64.min, .max]) func integers(_ value: Int64) {
        var writer = ByteWriter()
        writer.append(integer: value)
        #expect(writer.string == String(value))
    }

    @Test("integers of every length, and those next to them") func lengths() {
        var power: UInt64 = 1
        while true {
            for value in [power - 1, power, power + 1, power + power / 3, power &* 7] {
                var writer = ByteWriter()
                writer.append(integer: value)
                #expect(writer.string == String(value))
            }
            let (next, overflow) = power.multipliedReportingOverflow(by: 10)
            if overflow { break }
            power = next
        }
    }

    @Test("the buffer grows, is overwritten and cut") func buffer() {
        var writer = ByteWriter(capacity: 1)
        for index in 0..<1000 { writer.append(integer: index % 10) }
        #expect(writer.count == 1000)
        writer.overwrite(at: 998, with: UInt16(0x7978).littleEndian)
        writer.overwrite(at: 999, with: UInt16(0))
        writer.overwrite(at: -1, with: UInt8(0))
        writer.overwrite(at: .max, with: UInt32(0))
        writer.truncate(to: 2000)
        #expect(writer.string.hasSuffix("7xy"))
        writer.truncate(to: 3)
        #expect(writer.string == "012")
    }

    @Test("strings are equal if their bytes are, short or long") func sameBytes() {
        let composed = "\u{e9}"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed)
        for more in ["", "x", String(repeating: "x", count: 20)] {
            #expect((more + composed).hasSameBytes(as: more + composed))
            #expect(!(more + composed).hasSameBytes(as: more + decomposed))
            #expect(!(composed + "a" + more).hasSameBytes(as: decomposed + more))
            #expect(!("a" + more).hasSameBytes(as: "b" + more))
        }
        #expect("".hasSameBytes(as: ""))
        // Equivalent, of the same length in bytes, and not the same.
        #expect("a\u{323}\u{307}" == "a\u{307}\u{323}")
        #expect(!"a\u{323}\u{307}".hasSameBytes(as: "a\u{307}\u{323}"))
    }

    @Test("members in JavaScript's order")
    func order() throws {
        guard case .object(let object) = try JSONReader.parse(#"{"b":1,"10":2,"a":3,"2":4,"01":5}"#) else {
            return
        }
        #expect(object.membersInJavaScriptOrder.map(\.key) == ["2", "10", "b", "a", "01"])
    }
}
