// SPDX-License-Identifier: MIT
import ClusterClient
import Dispatch
import JSON
import Synchronization
import SystemSupport

/// Many watched viewports, and a source that changes at a steady rate, both through the Swift client.
public final class WatchLoad: Sendable {
    public struct Result: Sendable {
        /// Changes of viewports.
        public internal(set) var items = 0
        public internal(set) var bytes = 0
        /// The time from an update's answer to the viewport's change.
        public internal(set) var lag = LatencyHistogram(subBits: 6)
        /// The time from sending an update to its answer.
        public internal(set) var update = LatencyHistogram(subBits: 6)
        public internal(set) var seconds = 0.0
        public internal(set) var errors = 0
        /// The daemon's processor time in seconds, and its memory in bytes afterwards.
        public internal(set) var processor = 0.0
        public internal(set) var memory = 0
    }

    private struct State {
        var result = Result()
        var isMeasuring = false
        /// By revision, the time of the answer to its update.
        var visible: [Int: UInt64] = [:]
        /// Updates without an answer.
        var waiting = 0
    }

    private let source: String
    private let state = Mutex(State())

    /// A daemon that falls behind gets no more updates.
    private static let mostWaiting = 256

    /// - Parameters:
    ///   - path: the daemon's socket.
    ///   - viewports: the params of WatchClusters for each viewport; watches take them in rotation; not empty.
    ///   - updates: feature updates per second.
    public init(
        _ source: String, path: String, viewports: [JSONObject], watchers: Int, connections: Int,
        updates: Double, seconds: Double, _ features: UpdateSequence
    ) async throws {
        self.source = source
        var clients: [Client] = []
        for _ in 0..<max(1, connections) { clients.append(try await Client.connect(socketPath: path)) }
        let updater = try await Client.connect(socketPath: path)
        defer { for client in clients + [updater] { client.close() } }
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup { group in
            for watcher in 0..<watchers {
                let client = clients[watcher % clients.count]
                let params = CallParams(viewports[watcher % viewports.count])
                group.addTask { await self.watch(client, params, opening) }
            }
            var openings = opened.makeAsyncIterator()
            for _ in 0..<watchers { _ = await openings.next() }
            if updates > 0 {
                group.addTask { await self.update(through: updater, every: .seconds(1 / updates), features) }
            }
            // One second to warm up.
            try await Task.sleep(for: .seconds(1))
            let usage = try DaemonUsage(path: path)
            let began = DispatchTime.now().uptimeNanoseconds
            state.withLock { $0.isMeasuring = true }
            try await Task.sleep(for: .seconds(seconds))
            state.withLock { state in
                state.isMeasuring = false
                state.result.seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
                state.result.processor = usage.processorSeconds
                state.result.memory = usage.memoryBytes
            }
            group.cancelAll()
        }
    }

    public var result: Result { state.withLock { $0.result } }

    /// Counts the changes of a viewport. Reports the first one, or that there will be none.
    private func watch(_ client: Client, _ params: CallParams, _ opening: AsyncStream<Void>.Continuation) async {
        do {
            var isOpen = false
            for try await item in try client.openBothWays("ClusterService/WatchClusters", params) {
                count(item)
                if !isOpen { opening.yield() }
                isOpen = true
            }
        } catch {
            opening.yield()
            if !Task.isCancelled { state.withLock { $0.result.errors += 1 } }
        }
    }

    private func count(_ item: Answer) {
        let now = DispatchTime.now().uptimeNanoseconds
        let revision = Self.revision(in: item.bytes)
        state.withLock { state in
            guard state.isMeasuring else { return }
            state.result.items += 1
            state.result.bytes += item.bytes.count
            // A change that arrives before the update's own answer counts as no delay.
            state.result.lag.record(revision.flatMap { state.visible[$0] }.map { now &- $0 } ?? 0)
        }
    }

    private func update(through client: Client, every interval: Duration, _ features: UpdateSequence) async {
        var features = features
        var due = ContinuousClock.now
        await withDiscardingTaskGroup { group in
            while true {
                due += interval
                guard (try? await Task.sleep(until: due)) != nil else { return group.cancelAll() }
                guard state.withLock({ $0.waiting < Self.mostWaiting }) else { continue }
                let params = CallParams(
                    text: #"{"source":\#(JSONValue.string(source).text),"upsert":[\#(features.next())]}"#)
                state.withLock { $0.waiting += 1 }
                group.addTask { await self.send(params, through: client) }
            }
        }
    }

    private func send(_ params: CallParams, through client: Client) async {
        let start = DispatchTime.now().uptimeNanoseconds
        let answer = try? await client.call("SourceService/UpdateFeatures", params)
        let now = DispatchTime.now().uptimeNanoseconds
        state.withLock { state in
            state.waiting -= 1
            guard let answer, let revision = Self.revision(in: answer.bytes) else {
                if !Task.isCancelled { state.result.errors += 1 }
                return
            }
            state.visible[revision] = now
            if state.isMeasuring { state.result.update.record(now &- start) }
        }
    }

    /// The last revision in a text, near whose end it is.
    static func revision(in text: [UInt8]) -> Int? {
        let tail = text.suffix(800)
        guard let start = tail.indices.last(where: { tail[$0...].starts(with: word) }) else { return nil }
        let digits = tail[(start + word.count)...].prefix { (48...57).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private static let word = Array("\"revision\":".utf8)
}

/// The benchmark's own features, which move among the source's. The sequence is the same in each run.
public struct UpdateSequence: Sendable {
    /// The number of features.
    public static let features = 1000

    private let positions: [(longitude: Double, latitude: Double)]
    private var random = SplitMix(seed: 7)
    private var count = 0

    /// - Parameter positions: the locations among which they move; not empty.
    public init(among positions: [(longitude: Double, latitude: Double)]) { self.positions = positions }

    public static func identifier(_ number: Int) -> String { "clusterctl-bench-\(number)" }

    /// The text of the next feature.
    mutating func next() -> String {
        let position = positions[random.integer(below: positions.count)]
        let longitude = min(180, max(-180, position.longitude + random.unit() - 0.5))
        let latitude = min(85, max(-85, position.latitude + random.unit() - 0.5))
        let id = Self.identifier(count % Self.features)
        count += 1
        return
            #"{"type":"Feature","id":"\#(id)","geometry":{"type":"Point","coordinates":[\#(longitude),\#(latitude)]},"properties":{"n":\#(count)}}"#
    }
}
