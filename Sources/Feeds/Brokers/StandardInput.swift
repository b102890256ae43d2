// SPDX-License-Identifier: MIT
import Glibc

/// Lines on standard input; the position is the number of lines read.
final class StandardInput: Broker, @unchecked Sendable {
    // Only the feed's one thread for its broker uses it.
    let log: String
    let hasPositions = true
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var number: UInt64 = 0
    private var skipped: UInt64 = 0
    private var hasEnded = false
    private var hasStarted = false

    /// The longest line, in bytes: that of a message to the daemon.
    private static let longestLine = 16 << 20

    init(log: String?, descriptor: Int32 = STDIN_FILENO) {
        (self.log, self.descriptor) = (log ?? "stdin", descriptor)
    }

    func start(after position: String?, resetsToEarliest: Bool) throws(BrokerError) {
        guard !hasStarted else {
            throw .gone("standard input can't be read again from line \(position ?? "0")")
        }
        guard let position else { return hasStarted = true }
        guard let lines = UInt64(position) else {
            throw .unusable("the source's position \"\(position)\" of the log \"\(log)\" is no number of lines")
        }
        skipped = lines
        hasStarted = true
    }

    func receive() throws(BrokerError) -> [BrokerMessage]? {
        var messages = try takeLines()
        if messages.isEmpty, !hasEnded {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 100) > 0 else { return [] }
            try read()
            messages = try takeLines()
        }
        if messages.isEmpty, hasEnded {
            guard !buffer.isEmpty else { return nil }
            // The last line may lack its end.
            let line = buffer
            buffer = []
            return message(line).map { [$0] } ?? []
        }
        return messages
    }

    private func read() throws(BrokerError) {
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
            count = max(0, Glibc.read(descriptor, bytes.baseAddress, bytes.count))
        }
        if bytes.isEmpty { hasEnded = true }
        buffer += bytes
        guard buffer.count <= Self.longestLine else {
            throw .unusable("a line of standard input is longer than \(Self.longestLine) bytes")
        }
    }

    private func takeLines() throws(BrokerError) -> [BrokerMessage] {
        var messages: [BrokerMessage] = []
        var start = buffer.startIndex
        while let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if let message = message(Array(buffer[start..<end])) { messages.append(message) }
            start = end + 1
        }
        buffer.removeFirst(start)
        return messages
    }

    /// The message of the next line; nil if the source has it.
    private func message(_ line: [UInt8]) -> BrokerMessage? {
        number += 1
        guard number > skipped else { return nil }
        let text = line.last == UInt8(ascii: "\r") ? Array(line.dropLast()) : line
        return BrokerMessage(position: "\(number)", key: nil, body: text)
    }

    func appliedAll() {}
    func stop() {}

    func peek(seconds: Int) throws(BrokerError) -> [BrokerMessage] {
        try start(after: nil, resetsToEarliest: false)
        var found: [BrokerMessage] = []
        for _ in 0..<10 * seconds where found.count < Peeking.most {
            guard let messages = try receive() else { break }
            found += messages
        }
        return Array(found.prefix(Peeking.most))
    }
}

/// How much `--check` reads.
enum Peeking {
    static let most = 5
}
