// SPDX-License-Identifier: MIT
import Testing

@testable import JSON

@Suite("Scanning for brackets") struct JSONScannerTests {
    /// Texts of few different characters, so that there are many brackets, strings and escapes.
    private func text(_ random: inout SystemRandomNumberGenerator) -> [UInt8] {
        let characters = Array(#"{}[]{}[]""\a,: {}"#.utf8)
        return (0..<Int.random(in: 0...300, using: &random)).map { _ in characters.randomElement(using: &random) ?? 0 }
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
                let part = text[start..<end]
                part.withUnsafeBytes { piece in
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
                    let found = all.scanToLast(part.span)
                    #expect(found == (expected, scanned), "\(String(decoding: text, as: UTF8.self))")
                }
                #expect(one.depth == all.depth)
                if one.depth < 0 { break }
                start = end
            }
        }
    }
}
