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

    /// The field with a name, in upper or lower case. O(length of the name).
    init?(name: UnsafeRawBufferPointer) {
        guard name.count < Self.table.starts.count - 1 else { return nil }
        for entry in Self.table.starts[name.count]..<Self.table.starts[name.count + 1] {
            let (start, field) = Self.table.entries[entry]
            var offset = 0
            while offset < name.count, Self.table.names[start + offset] == Self.lowercased(name[offset]) {
                offset += 1
            }
            guard offset == name.count else { continue }
            self = field
            return
        }
        return nil
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
    }

    private static let table = Table()

    /// The fields, indexed by the lengths of their names.
    private struct Table {
        /// All names, concatenated.
        let names: [UInt8]
        /// The start of each name.
        let entries: [(start: Int, field: HeaderField)]
        /// For each length, its first entry; one more element than the longest name's length requires.
        let starts: [Int]

        init() {
            let fields = HeaderField.allCases.sorted { $0.rawValue.utf8.count < $1.rawValue.utf8.count }
            var (names, entries): ([UInt8], [(Int, HeaderField)]) = ([], [])
            for field in fields {
                entries.append((names.count, field))
                names += field.rawValue.utf8
            }
            let longest = fields.last?.rawValue.utf8.count ?? 0
            starts = (0...longest + 1).map { length in
                fields.firstIndex { $0.rawValue.utf8.count >= length } ?? fields.count
            }
            (self.names, self.entries) = (names, entries)
        }
    }
}
