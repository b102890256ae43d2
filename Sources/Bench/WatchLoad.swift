// SPDX-License-Identifier: MIT
import Glibc
import JSON

/// Many watched viewports, and a source that changes at a steady rate.
public struct WatchLoad {
    public struct Plan {
        var path: String
        var source: String
        /// The params of WatchClusters for each viewport. Watches take them in rotation.
        var viewports: [JSONObject]
        var watchers: Int
        var connections: Int
        /// The number of feature updates per second.
        var updates: Double
        var seconds: Double

        public init(
            path: String, source: String, viewports: [JSONObject], watchers: Int, connections: Int,
            updates: Double, seconds: Double
        ) {
            self.path = path
            self.source = source
            self.viewports = viewports
            self.watchers = watchers
            self.connections = connections
            self.updates = updates
            self.seconds = seconds
        }
    }

    public struct Result {
        /// Changes of viewports.
        public internal(set) var items = 0
        public internal(set) var bytes = 0
        /// The time from an update's answer to the viewport's change.
        public internal(set) var lag = LatencyHistogram()
        /// The time from sending an update to its answer.
        public internal(set) var update = LatencyHistogram()
        public internal(set) var seconds = 0.0
        public internal(set) var errors = 0
        /// The daemon's processor time in seconds, and its memory in bytes afterwards.
        public internal(set) var processor = 0.0
        public internal(set) var memory = 0
    }

    private struct Connection {
        let descriptor: Int32
        var outgoing: [UInt8] = []
        var sent = 0
        var frames = FrameTails()
    }

    private let plan: Plan
    /// The watchers' connections, followed by the one for updates.
    private var connections: [Connection] = []
    private var features: UpdateSequence
    private var result = Result()
    private var isMeasuring = false
    /// By revision, the time of the answer to its update.
    private var visible: [Int: UInt64] = [:]
    /// By call, the time at which an update was sent.
    private var started: [Int: UInt64] = [:]
    private var opened = 0

    private init(_ plan: Plan, _ features: UpdateSequence) {
        self.plan = plan
        self.features = features
    }

    public static func run(_ plan: Plan, _ features: UpdateSequence) throws -> Result {
        var load = WatchLoad(plan, features)
        defer { for connection in load.connections { close(connection.descriptor) } }
        for _ in 0...max(1, plan.connections) {
            load.connections.append(Connection(descriptor: try LoadSocket.connect(to: plan.path)))
        }
        load.open()
        load.pump(for: .infinity) { $0.opened >= plan.watchers }
        // One second to warm up.
        load.pump(for: 1) { _ in false }
        let process = DaemonUsage(descriptor: load.connections[0].descriptor)
        load.isMeasuring = true
        let began = LoadSocket.now()
        load.pump(for: plan.seconds) { _ in false }
        load.result.seconds = Double(LoadSocket.now() - began) / 1e9
        load.result.processor = process.processorSeconds
        load.result.memory = process.memoryBytes
        return load.result
    }

    private mutating func open() {
        for watcher in 0..<plan.watchers where !plan.viewports.isEmpty {
            let params = JSONValue.object(plan.viewports[watcher % plan.viewports.count]).text
            append(
                #"{"id":\#(watcher + 1),"method":"clusterd.v1.ClusterService/WatchClusters","params":\#(params)}"#,
                to: watcher % (connections.count - 1))
        }
    }

    private mutating func update(_ now: UInt64) {
        let id = features.count + 1
        // A daemon that falls behind gets no more updates.
        guard started.count < 256 else { return }
        append(
            #"{"id":\#(id),"method":"clusterd.v1.SourceService/UpdateFeatures","params":{"source":\#(JSONValue.string(plan.source).text),"upsert":[\#(features.next())]}}"#,
            to: connections.count - 1)
        started[id] = now
    }

    private mutating func append(_ message: String, to index: Int) {
        let length = UInt32(clamping: message.utf8.count)
        connections[index].outgoing.append(0)
        for shift in [24, 16, 8, 0] as [UInt32] {
            connections[index].outgoing.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        connections[index].outgoing += message.utf8
    }

    private mutating func pump(for seconds: Double, until isDone: (WatchLoad) -> Bool) {
        let start = LoadSocket.now()
        let end = seconds.isFinite ? start + UInt64(seconds * 1e9) : .max
        let interval = seconds.isFinite && plan.updates > 0 ? UInt64(1e9 / plan.updates) : 0
        var due = start
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
        defer { buffer.deallocate() }
        var polled = connections.map { pollfd(fd: $0.descriptor, events: 0, revents: 0) }
        while LoadSocket.now() < end, !isDone(self), result.errors < 1000 {
            while interval > 0, LoadSocket.now() >= due {
                update(LoadSocket.now())
                due += interval
            }
            for index in connections.indices {
                flush(index)
                let waits = connections[index].sent < connections[index].outgoing.count
                polled[index].events = Int16(truncatingIfNeeded: POLLIN | (waits ? POLLOUT : 0))
            }
            LoadSocket.wait(&polled, milliseconds: 1)
            for index in polled.indices where polled[index].revents != 0 { read(index, buffer) }
        }
    }

    private mutating func read(_ index: Int, _ buffer: UnsafeMutableRawBufferPointer) {
        switch LoadSocket.receive(connections[index].descriptor, into: buffer) {
        case .wouldBlock: return
        case .closed: result.errors += 1000
        case .bytes(let count):
            let now = LoadSocket.now()
            var messages: [FrameTails.Message] = []
            connections[index].frames.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                messages.append($0)
            }
            for message in messages { take(message, isUpdate: index == connections.count - 1, now) }
        }
    }

    private mutating func take(_ message: FrameTails.Message, isUpdate: Bool, _ now: UInt64) {
        guard let revision = message.revision else { return result.errors += 1 }
        if isUpdate {
            visible[revision] = now
            if let start = started.removeValue(forKey: message.id), isMeasuring {
                result.update.record(nanoseconds: now &- start)
            }
            return
        }
        opened += 1
        guard isMeasuring else { return }
        result.items += 1
        result.bytes += message.bytes
        // A change that arrives before the update's own answer counts as no delay.
        result.lag.record(nanoseconds: visible[revision].map { now &- $0 } ?? 0)
    }

    private mutating func flush(_ index: Int) {
        while connections[index].sent < connections[index].outgoing.count {
            let rest = connections[index].outgoing[connections[index].sent...]
            guard case .bytes(let count) = LoadSocket.send(connections[index].descriptor, rest) else {
                return
            }
            connections[index].sent += count
        }
        connections[index].outgoing.removeAll(keepingCapacity: true)
        connections[index].sent = 0
    }
}

/// The benchmark's own features, which move among the source's. The sequence is the same in each run.
public struct UpdateSequence {
    /// The number of features.
    public static let features = 1000

    private let places: [(longitude: Double, latitude: Double)]
    private var random = SplitMix(seed: 7)
    private(set) var count = 0

    /// - Parameter places: the locations among which they move; not empty.
    public init(places: [(longitude: Double, latitude: Double)]) { self.places = places }

    public static func identifier(_ number: Int) -> String { "clusterctl-bench-\(number)" }

    /// The text of the next feature.
    mutating func next() -> String {
        let index = places[random.integer(below: places.count)]
        let longitude = min(180, max(-180, index.longitude + random.unit() - 0.5))
        let latitude = min(85, max(-85, index.latitude + random.unit() - 0.5))
        let id = Self.identifier(count % Self.features)
        count += 1
        return
            #"{"type":"Feature","id":"\#(id)","geometry":{"type":"Point","coordinates":[\#(longitude),\#(latitude)]},"properties":{"n":\#(count)}}"#
    }
}
