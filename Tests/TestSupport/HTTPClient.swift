// SPDX-License-Identifier: MIT
import Foundation

/// A client that speaks HTTP in bytes, also what no good client would send. Blocking, with a time limit.
public final class HTTPClient {
    public struct Failure: Error, CustomStringConvertible { public let description: String }

    /// A response as it came.
    public struct Response {
        public let status: Int
        /// Names in lower case.
        public let fields: [(name: String, value: String)]
        public let body: [UInt8]

        public var text: String { String(decoding: body, as: UTF8.self) }

        public subscript(name: String) -> String? {
            fields.first { $0.name == name.lowercased() }?.value
        }
    }

    private let descriptor: Int32
    private var held: [UInt8] = []
    private let host: String

    /// Connects to a port of loopback.
    public init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        host = "127.0.0.1:\(port)"
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        try connect(&address)
    }

    public init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        host = "clusterd"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        try connect(&address)
    }

    private func connect<Address>(_ address: inout Address) throws {
        // Only against a test that never ends: on a loaded machine an answer took more than a minute under the thread
        // sanitizer.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        if status != 0 { throw Failure(description: "connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    // MARK: Sending

    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw Failure(description: "send: errno \(errno)") }
            sent += count
        }
    }

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// A request's bytes.
    ///
    /// - Parameter fields: lines such as `Accept: text/plain`; `Host` is added unless it is among them.
    public func request(_ method: String, _ target: String, _ fields: [String] = [], body: [UInt8]? = nil) -> [UInt8] {
        var head = "\(method) \(target) HTTP/1.1\r\n"
        if !fields.contains(where: { $0.lowercased().hasPrefix("host:") }) { head += "Host: \(host)\r\n" }
        for field in fields { head += field + "\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + (body ?? [])
    }

    /// Sends a request and waits for its response.
    public func exchange(
        _ method: String, _ target: String, _ fields: [String] = [], body: [UInt8]? = nil
    ) throws -> Response {
        try send(request(method, target, fields, body: body))
        return try receive(toHead: method == "HEAD")
    }

    public func get(_ target: String, _ fields: [String] = []) throws -> Response {
        try exchange("GET", target, fields)
    }

    // MARK: Receiving

    private func fill() throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var got = recv(descriptor, &chunk, chunk.count, 0)
        // A process that is stopped and continued has its calls with a time limit interrupted (signal(7)).
        while got < 0, errno == EINTR { got = recv(descriptor, &chunk, chunk.count, 0) }
        if got < 0, errno != ECONNRESET { throw Failure(description: "receive: errno \(errno)") }
        if got > 0 { held += chunk[..<got] }
        return got > 0
    }

    public func take(_ count: Int) throws -> [UInt8] {
        while held.count < count {
            if try !fill() { throw Failure(description: "the connection is closed") }
        }
        defer { held.removeFirst(count) }
        return Array(held[..<count])
    }

    public func takeLine() throws -> String {
        while true {
            if let end = held.firstIndex(of: 0x0A) {
                let line = try take(end + 1)
                return String(
                    decoding: line.dropLast(line.count > 1 && line[line.count - 2] == 0x0D ? 2 : 1), as: UTF8.self)
            }
            if try !fill() { throw Failure(description: "the connection is closed") }
        }
    }

    /// The next response.
    ///
    /// - Parameter toHead: whether it answers a HEAD, so that it has no body.
    public func receive(toHead: Bool = false) throws -> Response {
        let (status, fields) = try receiveHead()
        func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
        var body: [UInt8] = []
        if toHead || status == 204 || status == 304 || status < 200 {
        } else if field("transfer-encoding") == "chunked" {
            while let chunk = try takeChunk() { body += chunk }
        } else if let length = field("content-length").flatMap({ Int($0) }) {
            body = try take(length)
        }
        return Response(status: status, fields: fields, body: body)
    }

    /// The head of the next response.
    public func receiveHead() throws -> (status: Int, fields: [(name: String, value: String)]) {
        let line = try takeLine().split(separator: " ")
        guard line.count >= 2, line[0] == "HTTP/1.1", let status = Int(line[1]) else {
            throw Failure(description: "no status line: \(line)")
        }
        var fields: [(name: String, value: String)] = []
        while true {
            let line = try takeLine()
            if line.isEmpty { return (status, fields) }
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Failure(description: "no field: \(line)") }
            fields.append((parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces)))
        }
    }

    /// A chunk's bytes; nil for the last.
    public func takeChunk() throws -> [UInt8]? {
        guard let count = Int(try takeLine(), radix: 16) else { throw Failure(description: "no chunk") }
        let bytes = try take(count)
        _ = try takeLine()
        return count == 0 ? nil : bytes
    }

    /// Whether the other end has closed, waiting for that.
    public func isClosed() throws -> Bool { try held.isEmpty && !fill() }

    // MARK: WebSocket

    /// Opens a WebSocket; the response to the handshake.
    public func openWebSocket(_ target: String, _ fields: [String] = []) throws -> Response {
        try exchange(
            "GET", target,
            [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ] + fields)
    }

    public func sendText(_ text: String) throws { try send(Self.frame(1, Array(text.utf8))) }

    /// A masked frame of fewer than 65,536 bytes.
    public static func frame(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)] : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        let key: [UInt8] = [9, 8, 7, 6]
        return [0x80 | opcode] + length + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    /// The next frame.
    public func receiveFrame() throws -> (opcode: UInt8, payload: [UInt8]) {
        let head = try take(2)
        var count = Int(head[1] & 127)
        if count == 126 { count = try take(2).reduce(0) { $0 << 8 | Int($1) } }
        if count == 127 { count = try take(8).reduce(0) { $0 << 8 | Int($1) } }
        return (head[0] & 15, try take(count))
    }

    /// The next message's text; a close frame is a failure.
    public func receiveText() throws -> String {
        let frame = try receiveFrame()
        guard frame.opcode == 1 else { throw Failure(description: "opcode \(frame.opcode)") }
        return String(decoding: frame.payload, as: UTF8.self)
    }

    /// The code and the reason of the close frame that comes, perhaps after messages.
    public func receiveClose() throws -> (code: Int, reason: String) {
        while true {
            let (opcode, payload) = try receiveFrame()
            guard opcode == 8 else { continue }
            guard payload.count >= 2 else { return (1005, "") }
            return (Int(payload[0]) << 8 | Int(payload[1]), String(decoding: payload[2...], as: UTF8.self))
        }
    }
}

extension DaemonProcess {
    /// The port of the first address on which HTTP is served, from the log.
    public var httpPort: Int {
        let lines = errorText().split(separator: "\n")
        let line = lines.first { $0.contains("serving HTTP on http://") }
        return line?.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    }

    /// A daemon that serves HTTP on a free port, with members of the configuration's `http`.
    public convenience init(
        http members: String, limits: String = "{}", arguments: [String] = [], descriptors: Int? = nil
    ) throws {
        let path = NSTemporaryDirectory() + "clusterd-http-" + UUID().uuidString.prefix(12)
        try Data("{\"http\":{\(members)},\"limits\":\(limits)}".utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        try self.init(["--config", path, "--http", "0"] + arguments, descriptors: descriptors)
    }

    public func http() throws -> HTTPClient { try HTTPClient(port: httpPort) }
}
