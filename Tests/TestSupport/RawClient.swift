// SPDX-License-Identifier: MIT
import Compression
import Foundation
import JSON

/// A client that speaks in bytes, for what no good client would send. Blocking, with a time limit.
public final class RawClient {
    public struct Failure: Error, CustomStringConvertible { public let description: String }

    private let descriptor: Int32
    private var held: [UInt8] = []
    private var lastID: Int64 = 0

    public init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        // Only against a test that never ends: on a loaded machine an answer took more than a minute under the thread
        // sanitizer.
        var limit = timeval(tv_sec: 600, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let status = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if status != 0 { throw Failure(description: "connect: errno \(errno)") }
    }

    deinit { close(descriptor) }

    /// Sends bytes as they are.
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

    /// A frame of a message's text.
    public static func frame(_ text: String, flag: UInt8 = 0) -> [UInt8] {
        frame(Array(text.utf8), flag: flag)
    }

    public static func frame(_ payload: [UInt8], flag: UInt8 = 0) -> [UInt8] {
        let length = UInt32(payload.count)
        return [flag] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + payload
    }

    public func send(_ text: String) throws { try send(Self.frame(text)) }

    /// Closes this end's way out; answers can still come.
    public func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Whether `receive` gives notices, too, that belong to no call.
    public var keepsNotices = false

    private func take(_ count: Int) throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while held.count < count {
            let got = recv(descriptor, &chunk, chunk.count, 0)
            // A process that is stopped and continued has its calls with a time limit interrupted (signal(7)).
            if got < 0, errno == EINTR { continue }
            if got == 0 { throw Failure(description: "the connection is closed") }
            if got < 0 { throw Failure(description: "receive: errno \(errno)") }
            held += chunk[..<got]
        }
        defer { held.removeFirst(count) }
        return Array(held[..<count])
    }

    /// The first of several that has something to receive, or whose other end has closed; nil after a minute.
    public static func firstToHear(of clients: [RawClient]) -> RawClient? {
        var states = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&states, nfds_t(states.count), 60_000) > 0 else { return nil }
        return zip(clients, states).first { $0.1.revents != 0 }?.0
    }

    /// The next message's text.
    public func receiveText() throws -> [UInt8] {
        let prefix = try take(5)
        return try take(prefix[1...].reduce(0) { $0 << 8 | Int($1) })
    }

    /// The next message, and whether it came compressed.
    public func receiveFrame() throws -> (message: JSONObject, isCompressed: Bool) {
        let prefix = try take(5)
        let payload = try take(prefix[1...].reduce(0) { $0 << 8 | Int($1) })
        let text = prefix[0] == 1 ? try Zlib.inflate(payload, limit: 1 << 27) : payload
        guard case .object(let object) = try JSONReader.parse(text, maximumDepth: 80) else {
            throw Failure(description: "no object")
        }
        // The notice that the daemon ends belongs to no call.
        if object["goaway"] != nil, !keepsNotices { return try receiveFrame() }
        return (object, prefix[0] == 1)
    }

    public func receive() throws -> JSONObject { try receiveFrame().message }

    /// Whether the other end has closed, waiting for that.
    public func isClosed() -> Bool {
        do {
            // The notice of the end may come before the end itself.
            while true {
                let text = try receiveText()
                guard String(decoding: text, as: UTF8.self).contains("\"goaway\"") else { break }
            }
            return false
        } catch { return "\(error)" == "the connection is closed" || "\(error)".hasSuffix("errno 104") }
    }

    /// Opens a call without waiting; its id.
    @discardableResult
    public func open(_ method: String, _ params: JSONValue = [:], extra: String = "") throws -> Int64 {
        lastID += 1
        try send(#"{"id":\#(lastID),"method":"clusterd.v1.\#(method)","params":\#(params.text)\#(extra)}"#)
        return lastID
    }

    /// Calls a method and waits for the answer's message.
    public func exchange(_ method: String, _ params: JSONValue = [:], extra: String = "") throws -> JSONObject {
        let id = try open(method, params, extra: extra)
        let message = try receive()
        guard message["id"] == .number(Double(id)) else {
            throw Failure(description: "another id: \(message)")
        }
        return message
    }

    /// Calls a method; its result.
    public func call(_ method: String, _ params: JSONValue = [:]) throws -> JSONValue {
        let message = try exchange(method, params)
        guard let result = message["result"] else {
            throw Failure(description: "\(method) failed: \(JSONValue.object(message).text)")
        }
        return result
    }

    /// Calls a method that must fail; the error's status name and message.
    public func failure(_ method: String, _ params: JSONValue = [:]) throws -> (status: String, message: String) {
        let message = try exchange(method, params)
        guard let error = message["error"] else {
            throw Failure(description: "\(method) did not fail: \(JSONValue.object(message).text.prefix(300))")
        }
        return Self.status(error)
    }

    public static func status(_ error: JSONValue?) -> (status: String, message: String) {
        guard case .object(let object)? = error, case .string(let status)? = object["status"],
            case .string(let message)? = object["message"]
        else { return ("", "") }
        return (status, message)
    }

    /// Imports features in batches; the result's message.
    public func importFeatures(
        _ source: String, _ features: [String], mode: String = "replace", onInvalid: String = "reject", batch: Int = 500
    ) throws -> JSONObject {
        let id = try open(
            "SourceService/ImportFeatures",
            ["source": .string(source), "mode": .string(mode), "onInvalid": .string(onInvalid)])
        for start in stride(from: 0, to: features.count, by: batch) {
            let items = features[start..<min(start + batch, features.count)].joined(separator: ",")
            try send(#"{"id":\#(id),"item":{"features":[\#(items)]}}"#)
        }
        try send(#"{"id":\#(id),"end":true}"#)
        return try receive()
    }
}

extension JSONValue {
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    public var number: Double? { if case .number(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }
}
