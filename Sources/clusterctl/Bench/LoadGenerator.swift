// SPDX-License-Identifier: MIT
import Glibc

/// What a load generator has measured.
struct LoadResult {
    var answers = 0
    var errors = 0
    var bytes = 0
    var seconds = 0.0
    var latency = LatencyHistogram()
    /// Connections that the server has closed.
    var lostConnections = 0

    var rate: Double { seconds > 0 ? Double(answers) / seconds : 0 }
}

/// Keeps a number of requests in flight on each of many connections, from one thread.
///
/// It shares the machine with the server that it measures, so it does little: requests are copied as they were
/// made before, answers are told by their heads and counted.
struct LoadGenerator<Wire: LoadProtocol> {
    private struct Connection {
        let descriptor: Int32
        var wire: Wire
        var outgoing: [UInt8] = []
        var sent = 0
        var started: [UInt64]
        var isLost = false
        /// Whether the system has no room for `outgoing`.
        var isBlocked = false

        mutating func request(_ slot: Int, _ now: UInt64) {
            wire.appendRequest(slot: slot, to: &outgoing)
            started[slot] = now
        }
    }

    private static var bufferSize: Int { 256 << 10 }

    private var connections: [Connection] = []
    private var result = LoadResult()
    private var isMeasuring = false
    private var answered: [LoadAnswer] = []
    private let buffer: UnsafeMutableRawBufferPointer
    private let poll: SocketPoll

    /// Runs a load against a socket and returns what was measured after the warm-up.
    ///
    /// - Parameters:
    ///   - depth: requests in flight on each connection.
    ///   - wire: the protocol's state for each connection.
    static func run(
        path: String, connections: Int, depth: Int, warmUp: Double, seconds: Double, wire: (Int) -> Wire
    ) throws -> LoadResult {
        var generator = LoadGenerator(
            buffer: .allocate(byteCount: bufferSize, alignment: 64), poll: try SocketPoll())
        defer {
            generator.buffer.deallocate()
            for connection in generator.connections { close(connection.descriptor) }
        }
        for index in 0..<connections {
            let descriptor = try LoadSocket.connect(to: path)
            generator.connections.append(
                Connection(
                    descriptor: descriptor, wire: wire(index), started: [UInt64](repeating: 0, count: depth)))
            try generator.poll.add(descriptor, number: index)
        }
        generator.start(depth: depth)
        generator.pump(for: warmUp)
        generator.isMeasuring = true
        let began = LoadSocket.now()
        generator.pump(for: seconds)
        generator.result.seconds = Double(LoadSocket.now() - began) / 1e9
        generator.result.lostConnections = generator.connections.count { $0.isLost }
        return generator.result
    }

    private init(buffer: UnsafeMutableRawBufferPointer, poll: SocketPoll) {
        self.buffer = buffer
        self.poll = poll
    }

    private mutating func start(depth: Int) {
        let now = LoadSocket.now()
        for index in connections.indices {
            for slot in 0..<depth { connections[index].request(slot, now) }
            flush(index)
        }
    }

    private mutating func pump(for seconds: Double) {
        let end = LoadSocket.now() + UInt64(seconds * 1e9)
        while LoadSocket.now() < end, connections.contains(where: { !$0.isLost }) {
            poll.wait(milliseconds: 100) { index in
                read(index)
                flush(index)
            }
        }
    }

    private mutating func read(_ index: Int) {
        switch LoadSocket.receive(connections[index].descriptor, into: buffer) {
        case .wouldBlock: return
        case .closed: lose(index)
        case .bytes(let count):
            let now = LoadSocket.now()
            answered.removeAll(keepingCapacity: true)
            connections[index].wire.receive(
                UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: &answered)
            for answer in answered { take(answer, index, now) }
        }
    }

    private mutating func take(_ answer: LoadAnswer, _ index: Int, _ now: UInt64) {
        guard connections[index].started.indices.contains(answer.slot) else {
            // An answer to none of our requests: an error of the whole connection.
            result.errors += 1
            return
        }
        if isMeasuring {
            result.answers += 1
            result.bytes += answer.bytes
            if answer.isError { result.errors += 1 }
            result.latency.record(nanoseconds: now &- connections[index].started[answer.slot])
        }
        connections[index].request(answer.slot, now)
    }

    private mutating func flush(_ index: Int) {
        while !connections[index].isLost, connections[index].sent < connections[index].outgoing.count {
            let (descriptor, sent) = (connections[index].descriptor, connections[index].sent)
            switch LoadSocket.send(descriptor, connections[index].outgoing, from: sent) {
            case .bytes(let count): connections[index].sent += count
            case .wouldBlock: return block(index, true)
            case .closed: lose(index)
            }
        }
        connections[index].outgoing.removeAll(keepingCapacity: true)
        connections[index].sent = 0
        block(index, false)
    }

    private mutating func block(_ index: Int, _ isBlocked: Bool) {
        guard connections[index].isBlocked != isBlocked, !connections[index].isLost else { return }
        connections[index].isBlocked = isBlocked
        poll.waitToWrite(isBlocked, connections[index].descriptor, number: index)
    }

    private mutating func lose(_ index: Int) {
        connections[index].isLost = true
        poll.remove(connections[index].descriptor)
    }
}
