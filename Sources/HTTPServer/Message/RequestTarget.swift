// SPDX-License-Identifier: MIT

/// A request's target, divided into parts (RFC 9112, section 3.2): origin form, absolute form or `*`.
struct RequestTarget: Sendable, Equatable {
    let whole: Range<Int>
    let path: Range<Int>
    let query: Range<Int>?
    /// The host of the absolute form.
    let authority: Range<Int>?

    /// - Parameters:
    ///   - bytes: the bytes that contain the target.
    ///   - range: the target's range in `bytes`.
    /// - Returns: nil if the target has none of these forms, or contains bytes that URLs cannot contain.
    init?(_ bytes: [UInt8], _ range: Range<Int>) {
        let target = bytes[range]
        guard let first = target.first, Self.areAllowed(bytes.span.extracting(range)) else { return nil }
        whole = range
        if first == UInt8(ascii: "*") {
            guard range.count == 1 else { return nil }
            (path, query, authority) = (range, nil, nil)
            return
        }
        var start = range.lowerBound
        if first == UInt8(ascii: "/") {
            authority = nil
        } else {
            guard let scheme = Self.scheme(of: target) else { return nil }
            let rest = start + scheme
            start =
                bytes[rest..<range.upperBound].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
                ?? range.upperBound
            guard start > rest, !bytes[rest..<start].contains(UInt8(ascii: "@")) else { return nil }
            authority = rest..<start
        }
        var mark = start
        while mark < range.upperBound, bytes[mark] != UInt8(ascii: "?") { mark += 1 }
        path = start..<mark
        query = mark < range.upperBound ? mark + 1..<range.upperBound : nil
    }

    private static func scheme(of target: ArraySlice<UInt8>) -> Int? {
        for scheme in ["http://", "https://"] where target.count > scheme.utf8.count {
            if zip(scheme.utf8, target).allSatisfy({ $0 == $1 || $0 == $1 | 0x20 }) {
                return scheme.utf8.count
            }
        }
        return nil
    }

    /// Whether all bytes are printable ASCII except `#`, or above ASCII. `#` begins a fragment, which clients do
    /// not send. Bytes above ASCII are allowed, because users of browsers type them.
    private static func areAllowed(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte > 0x20, byte != 0x7F, byte != UInt8(ascii: "#") else { return false }
        }
        return true
    }
}
