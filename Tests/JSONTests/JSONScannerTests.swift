// SPDX-License-Identifier: MIT
import Testing

@testable import JSON

@Suite("Scanning for brackets")
struct JSONScannerTests {
    /// Texts of few different characters, so that there are many brackets, strings and escapes.
    private func text(_ random: inout SystemRandomNumberGenerator) -> [UInt8] {
        let characters = Array(#"{}[]{}[]""\a,: {}"#.utf8)
        return (0..<Int.random(in: 0...300, using: &random)).map { _ in
            characters.randomElement(using: &random) ?? 0
        }
    }

    @Test("a part that is scanned before its turn has the same outcome, or none")
    func middle() {
        var random = SystemRandomNumberGenerator()
        var skipped = 0
        for _ in 0..<2000 {
            let text = text(&random)
            var scanner = JSONScanner()
            var start = 0
            while start < text.count, scanner.depth >= 0 {
                let end = min(text.count, start + Int.random(in: 1...200, using: &random))
                text[start..<end].withUnsafeBytes { piece in
                    var ahead = scanner
                    let found = ahead.skip(JSONMiddleScan(piece))
                    let expected = scanner.scanToLast(piece)
                    guard let found else { return }
                    skipped += 1
                    #expect(found == expected.last)
                    #expect(piece.count == expected.scanned)
                    #expect(ahead == scanner, "\(String(decoding: text, as: UTF8.self))")
                }
                start = end
            }
        }
        #expect(skipped > 500)
    }

    @Test("the last bracket that leaves none open is the last that is found one by one, whatever the pieces")
    func last() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let text = text(&random)
            var (one, all) = (JSONScanner(), JSONScanner())
            var start = 0
            while start < text.count {
                let end = min(text.count, start + Int.random(in: 1...200, using: &random))
                text[start..<end].withUnsafeBytes { piece in
                    var (expected, scanned) = (0, 0)
                    while scanned < piece.count, one.depth >= 0 {
                        let rest = UnsafeRawBufferPointer(rebasing: piece[scanned...])
                        guard let length = one.scan(rest, toDepth: 0) else {
                            scanned = piece.count
                            break
                        }
                        scanned += length
                        if one.depth == 0 { expected = scanned }
                    }
                    let found = all.scanToLast(piece)
                    #expect(found == (expected, scanned), "\(String(decoding: text, as: UTF8.self))")
                }
                #expect(one.depth == all.depth)
                if one.depth < 0 { break }
                start = end
            }
        }
    }
}

extension JSONScanner: Equatable {
    /// Whether both would find the same in any text.
    public static func == (one: JSONScanner, other: JSONScanner) -> Bool {
        var (one, other) = (one, other)
        guard one.depth == other.depth else { return false }
        // The quotation mark ends a string or begins one, unless it is escaped.
        for text in ["]", "\"]", "\"\"]"] {
            let outcomes = Array(text.utf8).withUnsafeBytes { bytes -> (Int, Int) in
                (one.scanToLast(bytes).scanned, other.scanToLast(bytes).scanned)
            }
            guard outcomes.0 == outcomes.1, one.depth == other.depth else { return false }
        }
        return true
    }
}
