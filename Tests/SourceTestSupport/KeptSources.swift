// SPDX-License-Identifier: MIT
import Foundation
import GeoJSON
import JSON
import Synchronization
import TestSupport
import Testing

import Responses
import SourceEngine

/// Sources in a state directory of their own, which can be reopened as after a restart.
package final class KeptSources {
    package let path: String
    package private(set) var registry: SourceRegistry
    private var events = Events()
    /// What the sources may hold after the next restart.
    package var memory = MemoryBudget.Limit()
    /// Features' text of so many bytes is read from snapshots.
    private let textInMemory: Int
    /// Whether snapshots of any size are read on demand, and indexes are read from them.
    package var isOnDemand: Bool
    /// Snapshots of fewer bytes are read as a whole.
    private let imageInMemory: Int
    /// Data whose changes take longer to replay are kept by a snapshot, in milliseconds.
    private let longestReplay: Double
    /// A checkpoint is written once updates have clustered for longer, in milliseconds.
    private let longestClustering: Double
    /// As in the limits.
    private let leastClusteredAlone: Int?
    /// Snapshots of so many features have the numbers by which watchers know them: by default the same as a daemon's.
    package var leastWithCodes = SourceLimits(filterCacheBytes: 0, buildThreads: 1).leastWithCodes
    /// Called by the next restart before it reads a source. Then the restart only begins to read, and the test ends
    /// that.
    package var beforeReading: (@Sendable (SourceName) -> Void)?
    /// The reading that the last restart has begun.
    package private(set) var recovery: SourceRecovery?

    package final class Events: Sendable {
        private let list = Mutex<[StateEvent]>([])
        func add(_ event: StateEvent) { list.withLock { $0.append(event) } }
        var all: [StateEvent] { list.withLock { $0 } }
    }

    /// - Parameters:
    ///   - isQuick: for tests of thousands of restarts, which need no disk.
    ///   - textInMemory: features' text of so many bytes stays in the files: by default all.
    ///   - longestReplay: data whose changes take longer to replay are kept by a snapshot, in milliseconds: by default
    ///     none.
    ///   - isOnDemand: whether snapshots of any size are read on demand, and indexes are read from them.
    ///   - imageInMemory: snapshots of fewer bytes are read as a whole.
    ///   - longestClustering: a checkpoint is written once updates have clustered for longer, in milliseconds: by
    ///     default never.
    ///   - leastClusteredAlone: as in the limits.
    package init(
        longestClustering: Double = .infinity, leastClusteredAlone: Int? = nil,
        isQuick: Bool = false, textInMemory: Int = 1, longestReplay: Double = .infinity,
        isOnDemand: Bool = false, imageInMemory: Int? = nil
    ) throws {
        self.longestReplay = longestReplay
        self.longestClustering = longestClustering
        self.leastClusteredAlone = leastClusteredAlone
        self.isOnDemand = isOnDemand
        self.imageInMemory = imageInMemory ?? (isOnDemand ? 1 : 1 << 22)
        self.textInMemory = textInMemory
        let isThere = FileManager.default.isWritableFile(atPath: "/dev/shm")
        let folder = isQuick && isThere ? "/dev/shm/" : NSTemporaryDirectory()
        path = folder + "clusterd-state-" + UUID().uuidString
        registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1))
        try open()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func open() throws {
        let events = Events()
        self.events = events
        var limits = SourceLimits(filterCacheBytes: 0, buildThreads: 1, memory: memory)
        limits.textInMemory = textInMemory
        limits.textGathered = textInMemory
        // On a busy machine a few changes would take long enough for a snapshot, which clusters everything again.
        (limits.longestReplay, limits.longReplay) = (longestReplay, longestReplay)
        limits.longestClustering = longestClustering
        if let leastClusteredAlone { limits.leastClusteredAlone = leastClusteredAlone }
        limits.imageInMemory = imageInMemory
        limits.leastWithCodes = leastWithCodes
        limits.evictsIndexes = isOnDemand
        registry = SourceRegistry(limits: limits, directory: try StateDirectory(path), report: { events.add($0) })
        if let beforeReading {
            registry.shared.beforeReading.withLock { $0 = beforeReading }
            recovery = try registry.beginRecovery()
            return
        }
        try registry.recover()
        wait()
    }

    /// What was reported since the last restart.
    package var reports: [StateEvent] { events.all }

    /// What was reported before.
    package private(set) var history: [StateEvent] = []

    /// Waits for what happens in the background.
    package func wait() {
        // What is in the background may put more there.
        for _ in 0..<8 {
            registry.shared.checks.sync {}
            registry.shared.undoing.sync {}
            for source in registry.all { source.jobs.wait() }
        }
    }

    /// Lets go of everything and takes it up again, after a change of the files where one is given.
    package func restart(_ change: () throws -> Void = {}) throws {
        wait()
        history += reports
        registry.shared.directory?.release()
        registry = SourceRegistry(limits: SourceLimits(filterCacheBytes: 0, buildThreads: 1))
        try change()
        try open()
    }

    package func source(_ name: String = "test") throws -> Source {
        try registry.source(#require(SourceName(name)))
    }

    @discardableResult
    package func create(_ name: String = "test", options: String = "{}") throws -> Source {
        try registry.create(
            #require(SourceName(name)), options: SourceOptions(reading: JSONReader.parse(options)))
    }

    /// What clients see of a source, or the error that they see; the number of the revision apart.
    package func seen(_ name: String = "test") -> String {
        do {
            let source = try source(name)
            try source.checkIntact()
            let revision = source.revision
            var output = ByteWriter()
            output.append(revision.options.json)
            for zoom in stride(from: 0.0, through: 17, by: 3) {
                try revision.writeClusters(
                    ClustersQuery(box: .world, zoom: zoom, output: FeatureOutput()), of: revision.view,
                    into: &output, .never)
            }
            try source.checkIntact()
            return Self.withoutRevision(output.string)
        } catch {
            return "\(error)"
        }
    }

    /// The same without clusters' ids and in no order: what data say however they were clustered.
    package func said(_ name: String = "test") -> String {
        let seen = seen(name)
        return seen.contains("FeatureCollection") ? Self.facts(seen) : seen
    }

    private static func facts(_ seen: String) -> String {
        let withoutIds = seen.replacingOccurrences(
            of: #""id":\d+,"properties":\{([^{}]*)"cluster":true,"cluster_id":\d+"#, with: "$1cluster",
            options: .regularExpression)
        return withoutIds.components(separatedBy: #"{"type":"FeatureCollection""#).map { collection in
            collection.components(separatedBy: #"{"type":"Feature","#)
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: ",]}")) }
                .sorted().joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    private static func withoutRevision(_ text: String) -> String {
        text.replacingOccurrences(of: #""revision":\d+"#, with: "", options: .regularExpression)
    }

    package func files(_ name: String = "test") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/sources/\(name)").sorted()
    }

    package func file(_ name: String, of source: String = "test") -> String {
        "\(path)/sources/\(source)/\(name)"
    }
}

extension Source {
    @discardableResult package func load(_ features: String, mode: ImportMode = .replace) throws -> ImportOutcome {
        let load = FeatureImport(into: self, mode: mode, policy: .reject)
        try load.add(features)
        return try load.finish(.never)
    }

    @discardableResult package func change(upsert: String? = nil, remove: [JSONValue] = []) throws -> UpdateOutcome {
        let removals = remove.compactMap { FeatureIdentifier($0) }
        return try update(upserts: upsert.map { Array($0.utf8) }, removals: removals, .never)
    }
}

/// Points in a few towns, with properties to fold.
package func towns(_ count: Int, from first: Int = 0) -> String {
    let kinds = ["bar", "café", "hotel"]
    let points = (first..<first + count).map { (id: Int) -> String in
        let longitude: Double = Double(id * 37 % 50) * 3 + Double(id % 7) / 1000
        let latitude: Double = Double(id * 13 % 40) + Double(id % 5) / 500
        return point(id, longitude, latitude, "{\"n\":\(id % 11),\"kind\":\"\(kinds[id % 3])\"}")
    }
    return "[" + points.joined(separator: ",") + "]"
}
