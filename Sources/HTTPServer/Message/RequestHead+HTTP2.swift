// SPDX-License-Identifier: MIT
import JSON

/// The heads of requests and responses as HTTP/2 has them: fields, of which those with a colon stand for the first line
/// (RFC 9113, section 8.3).
extension RequestHead {
    /// - Parameters:
    ///   - fields: names in lower case, with their values, in order.
    ///   - hasBody: whether the client has not ended its side with the head.
    ///   - mostOfURL: the most bytes of the path with its query.
    package static func http2(
        _ fields: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)], hasBody: Bool, mostOfURL: Int
    ) throws(RequestFailure) -> RequestHead {
        func value(_ name: StaticString) -> ArraySlice<UInt8> {
            name.withUTF8Buffer { name in fields.first { $0.name.elementsEqual(name) }?.value ?? [] }
        }
        let (method, path) = (value(":method"), value(":path"))
        guard path.count <= mostOfURL else {
            throw RequestFailure(.uriTooLong, "The URL is longer than the limit of \(mostOfURL) bytes.")
        }
        var bytes = Array(method) + [UInt8(ascii: " ")]
        let target = bytes.count..<bytes.count + path.count
        bytes += path
        bytes += Array(" HTTP/2.0\r\n".utf8)
        guard let target = RequestTarget(bytes, target) else {
            throw RequestFailure(.badRequest, "The request's path is malformed.")
        }
        var known: [(field: HeaderField, range: Range<Int>)] = []
        for (name, value) in fields {
            let isAuthority = name.elementsEqual(":authority".utf8)
            guard let field = isAuthority ? .host : HeaderField(name: Array(name).span) else { continue }
            known.append((field, bytes.count..<bytes.count + value.count))
            bytes += value
        }
        let declared = known.first { $0.field == .contentLength }
            .flatMap { Int(String(decoding: bytes[$0.range], as: UTF8.self)) }
        return RequestHead(
            method: HTTPMethod(method), isVersion10: false, keepsAlive: true,
            contentLength: hasBody ? declared : 0, wantsUpgrade: false, bytes: bytes, target: target, fields: known)
    }
}

extension ResponseHead {
    /// The fields of the head, with names in lower case, after its status. Fields that concern an HTTP/1.1 connection
    /// are left out.
    package func http2Fields(date: [UInt8]) -> [(name: String, value: String)] {
        var text = ByteWriter()
        write(into: &text, date: date)
        let lines = text.bytes.split(separator: UInt8(ascii: "\n")).map {
            String(decoding: $0.dropLast(), as: UTF8.self)
        }
        return lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let name = line[..<colon].lowercased()
            guard !["connection", "transfer-encoding", "upgrade"].contains(name) else { return nil }
            return (name, line[line.index(colon, offsetBy: 2)...].description)
        }
    }
}
