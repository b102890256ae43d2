// SPDX-License-Identifier: MIT

/// The header fields that the interface reads; all others are ignored.
enum HeaderField: String, Sendable, CaseIterable {
    case accept = "accept"
    case acceptEncoding = "accept-encoding"
    case accessControlRequestHeaders = "access-control-request-headers"
    case accessControlRequestMethod = "access-control-request-method"
    case connectTimeout = "connect-timeout-ms"
    case connection = "connection"
    case contentEncoding = "content-encoding"
    case contentLength = "content-length"
    case contentType = "content-type"
    case expect = "expect"
    case forwardedProtocol = "x-forwarded-proto"
    case host = "host"
    case ifNoneMatch = "if-none-match"
    case origin = "origin"
    case referer = "referer"
    case transferEncoding = "transfer-encoding"
    case upgrade = "upgrade"
    case userAgent = "user-agent"
    case webSocketKey = "sec-websocket-key"
    case webSocketVersion = "sec-websocket-version"

    /// The field of a name in any letter case. O(name).
    init?(name: UnsafeRawBufferPointer) {
        for entry in Self.table where entry.name.count == name.count {
            if zip(entry.name, name).allSatisfy({ $0 == $1 | (($1 >= 0x41 && $1 <= 0x5A) ? 0x20 : 0) }) {
                self = entry.field
                return
            }
        }
        return nil
    }

    private static let table: [(name: [UInt8], field: HeaderField)] = allCases.map {
        (Array($0.rawValue.utf8), $0)
    }
}
