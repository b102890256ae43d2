// SPDX-License-Identifier: MIT

/// A word for a number that JSON does not have: NaN or an infinity, as several languages write them.
public struct ForeignNumber: Sendable, Equatable {
    /// The word as sent, such as `NaN` or `-Infinity`.
    public let word: String
    /// Its line, from 1; nil if the text is not read by lines.
    public let line: Int?

    /// The message to follow "Feature 7 ".
    var message: String {
        "has \(word)\(line.map { " at line \($0)" } ?? ""), which is not JSON: write null instead"
    }

    /// The warning about features that were left out.
    static let warning = "features with NaN or Infinity are left out, because these are not JSON: write null instead"

    private static let words: Set<String> = ["nan", "inf", "infinity"]
    /// The length of `-infinity`: a longer word is none of these.
    private static let longest = 9

    /// The range of the first such word that is not within a string. O(bytes).
    static func find<Text: RandomAccessCollection<UInt8>>(in text: Text) -> Range<Int>? where Text.Index == Int {
        var index = text.startIndex
        while index < text.endIndex {
            let start = index
            if text[start] == UInt8(ascii: "\"") {
                index = endOfString(text, from: start)
                continue
            }
            while index < text.endIndex, isOfWord(text[index]) { index += 1 }
            if isNumber(text[start..<index]) { return start..<index }
            index = max(index, start + 1)
        }
        return nil
    }

    private static func endOfString<Text: RandomAccessCollection<UInt8>>(_ text: Text, from start: Int) -> Int
    where Text.Index == Int {
        var index = start + 1
        while index < text.endIndex, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index + 1
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }

    private static func isNumber(_ word: some RandomAccessCollection<UInt8>) -> Bool {
        guard 3...longest ~= word.count else { return false }
        let text = String(decoding: word, as: UTF8.self).lowercased()
        return words.contains(text.hasPrefix("-") ? String(text.dropFirst()) : text)
    }
}
