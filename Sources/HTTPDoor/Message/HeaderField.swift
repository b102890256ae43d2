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
    case ifMatch = "if-match"
    case ifModifiedSince = "if-modified-since"
    case ifNoneMatch = "if-none-match"
    case ifRange = "if-range"
    case origin = "origin"
    case range = "range"
    case referer = "referer"
    case transferEncoding = "transfer-encoding"
    case upgrade = "upgrade"
    case userAgent = "user-agent"
    case webSocketKey = "sec-websocket-key"
    case webSocketVersion = "sec-websocket-version"

    /// The field of a name in any letter case. O(name).
    init?(name: UnsafeRawBufferPointer) {
        guard let first = name.first.map(Self.lowercased) else { return nil }
        for entry in Self.table where entry.count == name.count && entry.first == first {
            if zip(entry.field.rawValue.utf8, name).allSatisfy({ $0 == Self.lowercased($1) }) {
                self = entry.field
                return
            }
        }
        return nil
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    private static let table: [(count: Int, first: UInt8, field: HeaderField)] = allCases.map {
        ($0.rawValue.utf8.count, $0.rawValue.utf8.first ?? 0, $0)
    }
}
