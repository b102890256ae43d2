// SPDX-License-Identifier: MIT

/// Tokens in URLs (RFC 6750, section 2.3), which must not be where URLs are written down.
enum QueryTokens {
    private static let name = "access_token"

    /// The tokens of a query, and the query without them; nil if it has none.
    static func taken(from query: ArraySlice<UInt8>) -> (tokens: [String], rest: [UInt8])? {
        var (tokens, rest): ([String], [ArraySlice<UInt8>]) = ([], [])
        for part in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let mark = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard PercentEncoding.decode(part[..<mark], plusIsSpace: true) == name else {
                rest.append(part)
                continue
            }
            tokens.append(PercentEncoding.decode(part[mark...].dropFirst(), plusIsSpace: true) ?? "")
        }
        return tokens.isEmpty ? nil : (tokens, Array(rest.joined(separator: [UInt8(ascii: "&")])))
    }

    /// A URL without its tokens.
    static func removed(from url: String) -> String {
        let bytes = Array(url.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let end = bytes[mark...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let (_, rest) = taken(from: bytes[(mark + 1)..<end]) else { return url }
        return String(decoding: bytes[...mark] + rest + bytes[end...], as: UTF8.self)
    }
}
