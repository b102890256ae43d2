// SPDX-License-Identifier: MIT

/// An answer that a load generator has seen the end of.
struct LoadAnswer: Equatable {
    /// Which of the connection's requests it answers.
    let slot: Int
    /// As received, framing included.
    let bytes: Int
    let isError: Bool
}

/// The wire of a server under load: writes requests, and follows the answers without keeping them.
protocol LoadProtocol {
    /// Appends the next request. `slot` is below the connection's depth and comes back with the answer.
    mutating func appendRequest(slot: Int, to bytes: inout [UInt8])

    /// Takes in received bytes, cut anywhere, and reports each answer that ends in them.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ report: (LoadAnswer) -> Void)
}

/// What is still to come of an answer whose head was read: counted, not kept.
private struct AnswerRest {
    private var left = 0
    private var answer = LoadAnswer(slot: 0, bytes: 0, isError: false)

    var isLeft: Bool { left > 0 }

    /// Begins to wait for so many bytes of an answer, which is reported at once where there are none.
    mutating func begin(_ answer: LoadAnswer, _ count: Int, _ report: (LoadAnswer) -> Void) {
        (self.answer, left) = (answer, count)
        if left == 0 { report(answer) }
    }

    /// Passes over what has come of it from `place` on, and reports it where that is all.
    mutating func pass(
        _ bytes: UnsafeRawBufferPointer, _ place: inout Int, _ report: (LoadAnswer) -> Void
    ) {
        let passed = min(left, bytes.count - place)
        left -= passed
        place += passed
        if left == 0 { report(answer) }
    }
}

/// clusterd's frames. The slot travels as the call's id.
struct ClusterdLoad: LoadProtocol {
    /// Enough of a message to tell its id, and a result from an error.
    private static let headLength = 5 + 48

    /// What follows `{"id":7` in each request, taken in turn.
    private let requests: [[UInt8]]
    private var next: Int
    private var head: [UInt8] = []
    private var length = 0
    private var rest = AnswerRest()

    /// - Parameter first: which request to begin with, so that connections do not ask the same in step.
    init(requests: [[UInt8]], first: Int) {
        self.requests = requests
        next = first
        head.reserveCapacity(Self.headLength)
    }

    mutating func appendRequest(slot: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += [0, 0, 0, 0, 0]
        bytes += "{\"id\":\(slot + 1)".utf8
        bytes += requests[next % requests.count]
        next &+= 1
        let length = UInt32(clamping: bytes.count - start - 5)
        for place in 0..<4 {
            bytes[start + 1 + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(place)))
        }
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ report: (LoadAnswer) -> Void) {
        var place = 0
        while place < bytes.count {
            if rest.isLeft {
                rest.pass(bytes, &place, report)
                continue
            }
            let wanted = head.count < 5 ? 5 : min(Self.headLength, 5 + length)
            let taken = min(wanted - head.count, bytes.count - place)
            head.append(contentsOf: bytes[place..<place + taken])
            place += taken
            if head.count == 5 { length = head[1...4].reduce(0) { $0 << 8 | Int($1) } }
            if head.count >= 5, head.count == min(Self.headLength, 5 + length) { endHead(report) }
        }
    }

    private mutating func endHead(_ report: (LoadAnswer) -> Void) {
        let message = head[5...]
        let digits = message.drop { $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9") }
            .prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        let id = digits.reduce(0) { ($0 &* 10) &+ Int($1 - UInt8(ascii: "0")) }
        let isResult = message[digits.endIndex...].starts(with: ",\"result\"".utf8)
        let left = 5 + length - head.count
        head.removeAll(keepingCapacity: true)
        rest.begin(LoadAnswer(slot: id - 1, bytes: 5 + length, isError: !isResult), left, report)
    }
}

/// Redis' RESP: `GET` of one key; answers come in order.
struct RedisLoad: LoadProtocol {
    private let request: [UInt8]
    private var waiting: [Int] = []
    private var first = 0
    private var line: [UInt8] = []
    private var rest = AnswerRest()

    init(key: String) { request = Self.command(["GET", key]) }

    /// A command as an array of bulk strings.
    static func command(_ words: [String]) -> [UInt8] {
        Array(("*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()).utf8)
    }

    mutating func appendRequest(slot: Int, to bytes: inout [UInt8]) {
        waiting.append(slot)
        bytes += request
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ report: (LoadAnswer) -> Void) {
        var place = 0
        while place < bytes.count {
            if rest.isLeft {
                rest.pass(bytes, &place, report)
                continue
            }
            line.append(bytes[place])
            place += 1
            if line.last == UInt8(ascii: "\n") { endLine(report) }
        }
    }

    private mutating func endLine(_ report: (LoadAnswer) -> Void) {
        let isBulk = line.first == UInt8(ascii: "$")
        let length = isBulk ? Int(String(decoding: line.dropFirst().dropLast(2), as: UTF8.self)) ?? -1 : -1
        let body = length >= 0 ? length + 2 : 0
        let slot = first < waiting.count ? waiting[first] : -1
        first += 1
        if first > 1024 {
            waiting.removeFirst(first)
            first = 0
        }
        let answer = LoadAnswer(slot: slot, bytes: line.count + body, isError: length < 0)
        line.removeAll(keepingCapacity: true)
        rest.begin(answer, body, report)
    }
}
