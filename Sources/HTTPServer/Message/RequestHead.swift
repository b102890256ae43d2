// SPDX-License-Identifier: MIT

/// A request's head. Values are slices of one copy of its bytes. Immutable.
package final class RequestHead: Sendable {
    let method: HTTPMethod
    /// Whether the version is HTTP/1.0, in which connections close by default and bodies cannot be chunked.
    let isVersion10: Bool
    /// Whether another request may follow on the connection.
    let keepsAlive: Bool
    /// The body's length in bytes; nil if it is chunked.
    let contentLength: Int?
    /// Whether the request asks for another protocol (`Connection: upgrade`).
    let wantsUpgrade: Bool
    private let bytes: [UInt8]
    private let parts: RequestTarget
    private let fields: [(field: HeaderField, range: Range<Int>)]
    /// The tokens in the target's query. Nothing else here has them.
    let tokens: [String]
    /// The target without its tokens, and where its query begins; nil if it has none.
    private let withoutTokens: (target: [UInt8], query: Int)?

    init(
        method: HTTPMethod, isVersion10: Bool, keepsAlive: Bool, contentLength: Int?, wantsUpgrade: Bool,
        bytes: [UInt8], target: RequestTarget, fields: [(field: HeaderField, range: Range<Int>)]
    ) {
        self.method = method
        self.isVersion10 = isVersion10
        self.keepsAlive = keepsAlive
        self.contentLength = contentLength
        self.wantsUpgrade = wantsUpgrade
        self.bytes = bytes
        parts = target
        self.fields = fields
        guard let query = target.query, let (tokens, rest) = QueryTokens.taken(from: bytes[query]) else {
            (tokens, withoutTokens) = ([], nil)
            return
        }
        self.tokens = tokens
        let before = bytes[target.whole.lowerBound..<query.lowerBound]
        withoutTokens = (Array(rest.isEmpty ? before.dropLast() : before) + rest, rest.isEmpty ? -1 : before.count)
    }

    var hasBody: Bool { contentLength != 0 }

    /// The size of the head in bytes, with the empty line that ends it.
    var byteCount: Int { bytes.count }

    /// The request's target as sent, but without tokens.
    var target: ArraySlice<UInt8> { withoutTokens?.target[...] ?? bytes[parts.whole] }
    /// The target's path, percent-encoded; `*` for the server as a whole.
    var path: ArraySlice<UInt8> { bytes[parts.path] }
    /// The target's query, after the question mark, percent-encoded.
    var query: ArraySlice<UInt8>? {
        if let withoutTokens { return withoutTokens.query < 0 ? nil : withoutTokens.target[withoutTokens.query...] }
        return parts.query.map { bytes[$0] }
    }

    /// The request line, such as `GET / HTTP/1.1`, without tokens.
    var line: String {
        let end = bytes[parts.whole.upperBound...].firstIndex(of: UInt8(ascii: "\r")) ?? bytes.endIndex
        return String(
            decoding: bytes[..<parts.whole.lowerBound] + target + bytes[parts.whole.upperBound..<end], as: UTF8.self)
    }

    /// The host to which the request was sent: the authority of its target, else `Host`.
    var host: String? {
        parts.authority.map { String(decoding: bytes[$0], as: UTF8.self) } ?? self[.host]
    }

    /// A field's value; the values of several lines are joined by commas.
    subscript(field: HeaderField) -> String? {
        var value: String?
        for entry in fields where entry.field == field {
            let text = String(decoding: bytes[entry.range], as: UTF8.self)
            value = value.map { "\($0), \(text)" } ?? text
        }
        return value
    }

    /// The first result of `body` that is not nil, for a field's lines.
    func first<Result>(_ field: HeaderField, _ body: (String) -> Result?) -> Result? {
        for entry in fields where entry.field == field {
            if let result = body(String(decoding: bytes[entry.range], as: UTF8.self)) { return result }
        }
        return nil
    }

    func has(_ field: HeaderField) -> Bool { fields.contains { $0.field == field } }
}
