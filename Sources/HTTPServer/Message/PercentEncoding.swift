// SPDX-License-Identifier: MIT

/// Percent-encoding (RFC 3986, section 2.1).
enum PercentEncoding {
    /// Decodes a part of a URL; nil if an escape is malformed, or the bytes are not UTF-8.
    ///
    /// - Parameter plusIsSpace: whether `+` is a space, as in forms' queries (WHATWG URL,
    ///   application/x-www-form-urlencoded).
    static func decode(_ part: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        guard part.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") || $0 >= 0x80 })
        else {
            return String(decoding: part, as: UTF8.self)
        }
        return bytes(part, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The same, as bytes of any kind.
    static func bytes(_ part: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.count)
        var offset = part.startIndex
        while offset < part.endIndex {
            switch part[offset] {
            case UInt8(ascii: "%"):
                guard part.endIndex - offset > 2, let high = hexDigit(part[offset + 1]),
                    let low = hexDigit(part[offset + 2])
                else { return nil }
                bytes.append(high << 4 | low)
                offset += 2
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            case let byte: bytes.append(byte)
            }
            offset += 1
        }
        return bytes
    }

    /// Encodes all but unreserved characters.
    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
