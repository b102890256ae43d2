// SPDX-License-Identifier: MIT
import ClusterClient
import Dispatch
import EventLoop
import SystemSupport

/// Keeps a fixed number of requests in flight on each of many connections, from one thread.
///
/// It shares the machine with the server that it measures, so it does little work: requests are prepared
/// in advance, and answers are recognized by their heads and counted.
public final class LoadGenerator<Wire: LoadProtocol> {
    /// A connection and its state.
    private final class Peer {
        var connection: Connection?
        var wire: Wire
        var outgoing: [UInt8] = []
        var started: [UInt64]
        var isLost = false

        init(_ wire: Wire, depth: Int) {
            self.wire = wire
            started = [UInt64](repeating: 0, count: depth)
        }

        func request(_ slot: Int, _ now: UInt64) {
            wire.appendRequest(slot: slot, to: &outgoing)
            started[slot] = now
        }

        func flush() {
            guard let connection, !isLost, !outgoing.isEmpty else { return }
            let written = connection.tryWrite(outgoing.span)
            if written < outgoing.count {
                connection.write(WaitingRequests(Array(outgoing[written...])))
            }
            outgoing.removeAll(keepingCapacity: true)
        }
    }

    private let loop: EventLoop
    private let peers: [Peer]
    private var result = LoadResult()
    private var isMeasuring = false
    private var answered: [LoadAnswer] = []

    /// Runs a load against a socket and returns what was measured after the warm-up.
    ///
    /// - Parameters:
    ///   - depth: requests in flight on each connection.
    ///   - wire: the protocol's state for each connection.
    public static func run(
        path: String, connections: Int, depth: Int, warmUp: Double, seconds: Double, wire: (Int) -> Wire
    ) throws -> LoadResult {
        let loop = try EventLoop()
        let generator = LoadGenerator(loop, (0..<connections).map { Peer(wire($0), depth: depth) })
        defer { for peer in generator.peers { peer.connection?.close() } }
        try generator.connect(path)
        generator.start(depth: depth)
        generator.pump(for: warmUp)
        generator.isMeasuring = true
        let began = DispatchTime.now().uptimeNanoseconds
        generator.pump(for: seconds)
        generator.result.seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        generator.result.lostConnections = generator.peers.count { $0.isLost }
        return generator.result
    }

    private init(_ loop: EventLoop, _ peers: [Peer]) {
        self.loop = loop
        self.peers = peers
    }

    /// Opens all connections.
    private func connect(_ path: String) throws {
        var failure: EventLoopError?
        for peer in peers {
            Connection.connect(on: loop, path: path) { result in
                switch result {
                case .success(let connection): peer.connection = connection
                case .failure(let error): failure = error
                }
            }
        }
        loop.run()
        if let failure { throw FeatureInputError(name: path, number: failure.number) }
    }

    private func start(depth: Int) {
        let now = DispatchTime.now().uptimeNanoseconds
        for peer in peers {
            peer.connection?.start { [unowned self] event in
                switch event {
                case .received(let bytes): read(bytes.bindMemory(to: UInt8.self).span, peer)
                case .written: break
                case .ended: lose(peer)
                }
            }
            for slot in 0..<depth { peer.request(slot, now) }
            peer.flush()
        }
    }

    /// Runs the loop for `seconds`, or until no connection is left.
    private func pump(for seconds: Double) {
        guard peers.contains(where: { !$0.isLost }) else { return }
        let end = Timer(on: loop, delay: UInt64(max(0, seconds) * 1000)) { [loop] in loop.stop() }
        loop.run()
        withExtendedLifetime(end) {}
    }

    private func read(_ bytes: Span<UInt8>, _ peer: Peer) {
        let now = DispatchTime.now().uptimeNanoseconds
        answered.removeAll(keepingCapacity: true)
        peer.wire.receive(bytes, into: &answered)
        for answer in answered { take(answer, peer, now) }
        peer.flush()
    }

    private func take(_ answer: LoadAnswer, _ peer: Peer, _ now: UInt64) {
        guard peer.started.indices.contains(answer.slot) else {
            // An answer to none of our requests: an error of the whole connection.
            result.errors += 1
            return
        }
        if isMeasuring {
            result.answers += 1
            result.bytes += answer.bytes
            if answer.isError { result.errors += 1 }
            result.latency.record(now &- peer.started[answer.slot])
        }
        peer.request(answer.slot, now)
    }

    private func lose(_ peer: Peer) {
        peer.isLost = true
        peer.connection?.close()
        if !peers.contains(where: { !$0.isLost }) { loop.stop() }
    }
}

/// Bytes that the socket has not taken yet. They never change, so they stay at their address.
final class WaitingRequests {
    fileprivate let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }
}

extension Connection {
    func write(_ requests: WaitingRequests) {
        let bytes = requests.bytes
        write(bytes.span, keeping: requests)
    }
}

/// The wire protocol of a server under load: writes requests, and counts answers without keeping them.
public protocol LoadProtocol {
    /// Appends the next request. `slot` is below the connection's depth and comes back with the answer.
    mutating func appendRequest(slot: Int, to bytes: inout [UInt8])

    /// Processes received bytes, which may be cut anywhere, and appends each answer that ends in them.
    mutating func receive(_ bytes: Span<UInt8>, into answers: inout [LoadAnswer])
}

/// Reads the beginnings of a server's answers.
protocol LoadHead {
    /// Reads the head of an answer: the answer, and the length of the head; nil if the head is cut.
    mutating func read(_ bytes: Span<UInt8>) -> (answer: LoadAnswer, length: Int)?
}

/// An answer that has been received completely.
public struct LoadAnswer: Equatable {
    /// The slot of the request that it answers.
    public let slot: Int
    /// As received, framing included.
    public let bytes: Int
    public let isError: Bool
}

/// What a load generator has measured.
public struct LoadResult {
    public internal(set) var answers = 0
    public internal(set) var errors = 0
    public internal(set) var bytes = 0
    public internal(set) var seconds = 0.0
    public internal(set) var latency = LatencyHistogram(subBits: 6)
    /// Connections that the server has closed.
    public internal(set) var lostConnections = 0

    public var rate: Double { seconds > 0 ? Double(answers) / seconds : 0 }
}

/// Follows answers by their heads. A head is parsed in place, and copied only if it is cut; the rest is counted.
struct LoadAnswers {
    private var cut: [UInt8] = []
    private var left = 0
    private var answer = LoadAnswer(slot: 0, bytes: 0, isError: false)

    mutating func receive(_ bytes: Span<UInt8>, _ head: inout some LoadHead, into answers: inout [LoadAnswer]) {
        var offset = 0
        while offset < bytes.count {
            if left == 0 {
                guard let length = begin(bytes.extracting(offset...), &head) else { return }
                offset += length
            }
            let passed = min(left, bytes.count - offset)
            left -= passed
            offset += passed
            if left == 0 { answers.append(answer) }
        }
    }

    /// Reads a head that may have begun earlier. Returns how much of `bytes` belongs to it; nil if it
    /// continues after them.
    private mutating func begin(_ bytes: Span<UInt8>, _ head: inout some LoadHead) -> Int? {
        let before = cut.count
        var found: (answer: LoadAnswer, length: Int)?
        if before == 0 {
            found = head.read(bytes)
        } else {
            // A few more bytes are usually enough.
            let few = min(Self.mostHeads, bytes.count)
            for part in [0..<few, few..<bytes.count] where found == nil {
                for index in part { cut.append(bytes[index]) }
                found = head.read(cut.span)
            }
        }
        guard let found else {
            if before == 0 { for index in bytes.indices { cut.append(bytes[index]) } }
            return nil
        }
        cut.removeAll(keepingCapacity: true)
        answer = found.answer
        left = answer.bytes - found.length
        return found.length - before
    }

    /// Most heads are shorter.
    private static let mostHeads = 64
}
