// SPDX-License-Identifier: MIT
import ClusterClient
import EventLoop

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

    public mutating func receive(_ bytes: Span<UInt8>, into answers: inout [LoadAnswer]) {
        self.answers.receive(bytes, &head, into: &answers)
    }

    /// A line: `$`, the value's length, and a line's end; or an error.
    private struct Head: LoadHead {
        /// The slots of unanswered requests, from `first` on.
        var waiting: [Int] = []
        private var first = 0

        mutating func read(_ bytes: Span<UInt8>) -> (answer: LoadAnswer, length: Int)? {
            guard let end = bytes.indices.first(where: { bytes[$0] == UInt8(ascii: "\n") }) else {
                return nil
            }
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
        let loop = try EventLoop()
        var answer: [UInt8] = []
        var failure: (any Error)?
        Connection.connect(on: loop, path: path) { result in
            switch result {
            case .failure(let error): failure = FeatureInputError(name: path, number: error.number)
            case .success(let connection):
                connection.start { event in
                    if case .received(let bytes) = event {
                        answer += bytes
                        if answer.last == UInt8(ascii: "\n") { connection.close() }
                    } else if case .ended = event {
                        failure = BenchError(message: "redis at \(path) has closed the connection")
                        connection.close()
                    }
                }
                let value = String(repeating: "x", count: bytes)
                connection.write(WaitingRequests(RedisLoad.command(["SET", key, value])))
            }
        }
        loop.run()
        if let failure { throw failure }
        guard answer.first == UInt8(ascii: "+") else {
            throw BenchError(message: "redis: " + String(decoding: answer, as: UTF8.self))
        }
    }
}
