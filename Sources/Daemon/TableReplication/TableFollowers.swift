// SPDX-License-Identifier: MIT
import EventLoop
import JSON
import PostgresFeed
import SourceEngine

/// The declared sources that follow tables. Belongs to the loop's thread.
final class TableFollowers {
    private let loop: EventLoop
    private let registry: SourceRegistry
    private let log: Log
    private let threads: Int
    private let stateDirectory: String?
    private var followers: [SourceName: TableFollower] = [:]
    /// Followers that are ending, and the declaration that succeeds each, if any.
    private var ending: [SourceName: DeclaredSource?] = [:]
    /// Sources that are followed once they have been read after a start.
    private var waiting: Set<SourceName> = []

    /// - Parameter stateDirectory: nil if sources are not persistent.
    init(loop: EventLoop, registry: SourceRegistry, log: Log, threads: Int, stateDirectory: String?) {
        self.loop = loop
        self.registry = registry
        self.log = log
        self.threads = threads
        self.stateDirectory = stateDirectory
    }

    /// Applies the current declarations. The sources themselves are created and deleted elsewhere,
    /// beforehand. Called again when a source has been read.
    func apply(_ declared: [DeclaredSource]) {
        let tables = declared.filter { $0.postgres != nil }
        for name in waiting.subtracting(tables.map(\.name)) {
            if !registry.setReplication(nil, whileLoading: name) {
                (try? registry.source(name))?.replication = nil
            }
        }
        waiting = []
        for (name, follower) in followers {
            guard let new = tables.first(where: { $0.name == name }) else {
                stop(follower, andThen: nil)
                remark(follower)
                continue
            }
            if new != follower.declared { stop(follower, andThen: new) }
        }
        for source in tables where followers[source.name] == nil {
            if ending[source.name] != nil { ending[source.name] = source } else { begin(source) }
        }
    }

    private func begin(_ declared: DeclaredSource) {
        guard let settings = declared.postgres else { return }
        let status = ReplicationStatus(table: "the table \(settings.declaredTable)", state: .waiting)
        if registry.setReplication(status, whileLoading: declared.name) {
            waiting.insert(declared.name)
            return
        }
        guard let source = try? registry.source(declared.name) else { return }
        let follower = TableFollower(declared, settings, of: source, loop: loop, log: log, threads: threads)
        followers[declared.name] = follower
        follower.start(stateDirectory: stateDirectory)
    }

    private func stop(_ follower: TableFollower, andThen next: DeclaredSource?) {
        let name = follower.declared.name
        followers[name] = nil
        ending.updateValue(next, forKey: name)
        follower.stop { [weak self] in
            withExtendedLifetime(follower) {}
            guard let self, let next = self.ending.removeValue(forKey: name) else { return }
            if let next { self.begin(next) }
        }
    }

    /// Warns about a slot that is no longer read, because it makes the server keep its log.
    private func remark(_ follower: TableFollower) {
        guard let settings = follower.declared.postgres, !settings.isTemporary else { return }
        let name = follower.declared.name.text
        let slot = settings.feed(of: name, stateDirectory: stateDirectory).slotName
        log.write(
            .warning,
            "the source no longer follows its table, and the server keeps its log for it until somebody runs: SELECT pg_drop_replication_slot('\(slot)')",
            ["source": .string(name)])
    }

    /// Stops all followers; calls `then` once all connections are closed.
    func end(_ then: @escaping () -> Void) {
        guard !followers.isEmpty else { return then() }
        var left = followers.count
        for follower in followers.values {
            follower.stop {
                withExtendedLifetime(follower) {}
                left -= 1
                if left == 0 { then() }
            }
        }
        followers = [:]
    }
}
