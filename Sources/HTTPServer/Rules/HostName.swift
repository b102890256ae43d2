// SPDX-License-Identifier: MIT

/// A host and its port as in `Host` and `Origin`, in lower case. An IPv6 address is in brackets.
struct HostName: Sendable, Hashable {
    let name: String
    let port: UInt16?

    init(name: String, port: UInt16?) {
        self.name = name.lowercased()
        self.port = port
    }

    /// Nil if the text is not `HOST`, `HOST:PORT`, `[V6]` or `[V6]:PORT`.
    init?(_ text: String) {
        let text = text.lowercased()
        var (name, rest) = (Substring(text), Substring())
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            name = text[...end]
            rest = text[text.index(after: end)...]
            guard name.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                return nil
            }
        } else {
            if let colon = text.firstIndex(of: ":") {
                (name, rest) = (text[..<colon], text[colon...])
            }
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
            if name.hasSuffix("."), name.count > 1 { name = name.dropLast() }
        }
        self.name = String(name)
        guard !rest.isEmpty else {
            port = nil
            return
        }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        guard !digits.isEmpty else {
            port = nil
            return
        }
        guard let port = UInt16(digits) else { return nil }
        self.port = port
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._".utf8.contains(byte)
        }
    }
}
