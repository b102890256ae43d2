// SPDX-License-Identifier: MIT
import Glibc

/// The header of a file in a tar archive (POSIX.1-1988, "ustar"), so that tar can read a backup.
struct TarHeader: Equatable {
    static let size = 512

    let name: String
    let count: Int

    /// The header's bytes; nil for names of more than 100 bytes and files of 8 GiB or more.
    var bytes: [UInt8]? {
        guard name.utf8.count <= 100, count < 1 << 33 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        func put(_ text: String, at offset: Int) {
            bytes.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        put(name, at: 0)
        put("0000600\0", at: 100)
        put("0000000\0", at: 108)
        put("0000000\0", at: 116)
        put(Self.octal(count, digits: 11) + "\0", at: 124)
        put("00000000000\0", at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar\u{0}00", at: 257)
        put(Self.octal(Self.sum(bytes), digits: 6) + "\0 ", at: 148)
        return bytes
    }

    init(name: String, count: Int) {
        self.name = name
        self.count = count
    }

    /// Nil if these are not the header of a regular file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size, bytes[257..<262].elementsEqual("ustar".utf8),
            bytes[156] == UInt8(ascii: "0"), let count = Self.number(bytes[124..<136]),
            Self.number(bytes[148..<156]) == Self.sum(bytes)
        else { return nil }
        self.count = count
        name = String(decoding: bytes[..<100].prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The number of zeros that pad a file of `count` bytes.
    static func padding(_ count: Int) -> Int { (size - count % size) % size }

    private static func sum(_ bytes: [UInt8]) -> Int {
        bytes.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
    }

    private static func octal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// A number of octal digits, which a zero or a space may end. Nil for anything else: `Int` would also read a sign.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        let digits = field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }
        guard !digits.isEmpty else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
            number = number << 3 | Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
