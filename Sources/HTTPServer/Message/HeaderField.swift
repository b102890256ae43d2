// SPDX-License-Identifier: MIT

/// The header fields that the interface reads; all others are ignored.
enum HeaderField: String, Sendable, CaseIterable {
    case accept = "accept"
    case acceptEncoding = "accept-encoding"
    case accessControlRequestHeaders = "access-control-request-headers"
    case accessControlRequestMethod = "access-control-request-method"
    case authorization = "authorization"
    case connectAcceptEncoding = "connect-accept-encoding"
    case connectContentEncoding = "connect-content-encoding"
    case connectTimeout = "connect-timeout-ms"
    case connectVersion = "connect-protocol-version"
    case connection = "connection"
    case contentEncoding = "content-encoding"
    case contentLength = "content-length"
    case contentType = "content-type"
    case expect = "expect"
    case fetchMode = "sec-fetch-mode"
    case fetchSite = "sec-fetch-site"
    case forwardedProtocol = "x-forwarded-proto"
    case host = "host"
    case ifMatch = "if-match"
    case ifModifiedSince = "if-modified-since"
    case ifNoneMatch = "if-none-match"
    case ifRange = "if-range"
    case ifUnmodifiedSince = "if-unmodified-since"
    case origin = "origin"
    case range = "range"
    case referer = "referer"
    case transferEncoding = "transfer-encoding"
    case upgrade = "upgrade"
    case userAgent = "user-agent"
    case webSocketKey = "sec-websocket-key"
    case webSocketVersion = "sec-websocket-version"

    /// The field with a name, in upper or lower case; nil for other names. Names of the same length are few.
    init?(name: Span<UInt8>) {
        for (text, field) in Self.names where text.count == name.count {
            guard text.indices.allSatisfy({ text[$0] == Self.lowercased(name[$0]) }) else { continue }
            self = field
            return
        }
        return nil
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    private static let names = allCases.map { (Array($0.rawValue.utf8), $0) }
}
