// SPDX-License-Identifier: MIT
import Glibc

/// Redis' protocol RESP: `GET` of one key. Answers arrive in order.
public struct RedisLoad: LoadProtocol {
    private let request: [UInt8]
    private var head = Head()
    private var answers = LoadAnswers()

    public init(key: String) { request = Self.command(["GET", key]) }

    /// A command as an array of bulk strings.
    static func command(_ words: [String]) -> [UInt8] {
        Array(("*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()).utf8)
    }

    public mutating func appendRequest(slot: Int, to bytes: inout [UInt8]) {
        head.waiting.append(slot)
        bytes.append(contentsOf: request)
    }

    public mutating func receive(_ bytes: UnsafeRawBufferPointer, into answers: inout [LoadAnswer]) {
        self.answers.receive(bytes, &head, into: &answers)
    }

    /// A line: `$`, the value's length, and a line's end; or an error.
    private struct Head: LoadHead {
        /// The slots of unanswered requests, from `first` on.
        var waiting: [Int] = []
        private var first = 0

        mutating func read(_ bytes: UnsafeRawBufferPointer) -> (answer: LoadAnswer, length: Int)? {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            var length = 0
            var offset = 1
            while offset < end, bytes[offset] >= UInt8(ascii: "0"), bytes[offset] <= UInt8(ascii: "9") {
                length = length &* 10 &+ Int(bytes[offset] - UInt8(ascii: "0"))
                offset += 1
            }
            let isValue = bytes[0] == UInt8(ascii: "$") && offset > 1 && offset == end - 1
            let body = isValue ? length &+ 2 : 0
            return (LoadAnswer(slot: nextSlot(), bytes: end + 1 + body, isError: !isValue), end + 1)
        }

        private mutating func nextSlot() -> Int {
            guard first < waiting.count else { return -1 }
            let slot = waiting[first]
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                first = 0
            } else if first > 1024 {
                waiting.removeFirst(first)
                first = 0
            }
            return slot
        }
    }
}

/// Stores the value that a comparison with Redis asks for.
public enum RedisStore {
    public static func set(_ key: String, bytes: Int, path: String) throws {
        let descriptor = try LoadSocket.connect(to: path)
        defer { close(descriptor) }
        var request = RedisLoad.command(["SET", key, String(repeating: "x", count: bytes)])[...]
        var answer: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        while answer.last != UInt8(ascii: "\n") {
            let events = Int16(truncatingIfNeeded: POLLIN | (request.isEmpty ? 0 : POLLOUT))
            var polled = [pollfd(fd: descriptor, events: events, revents: 0)]
            LoadSocket.wait(&polled, milliseconds: 1000)
            if !request.isEmpty, case .bytes(let count) = LoadSocket.send(descriptor, request) {
                request = request.dropFirst(count)
            }
            switch LoadSocket.receive(descriptor, into: buffer) {
            case .bytes(let count): answer += buffer[..<count]
            case .wouldBlock: break
            case .closed: throw BenchError(message: "redis at \(path) has closed the connection")
            }
        }
        guard answer.first == UInt8(ascii: "+") else {
            throw BenchError(message: "redis: " + String(decoding: answer, as: UTF8.self))
        }
    }
}
