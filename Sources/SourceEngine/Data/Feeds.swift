// SPDX-License-Identifier: MIT
import JSON
import Synchronization
import SystemSupport

/// The streams that apply logs to a source, and what they did lately. Safe from any thread.
final class Feeds: Sendable {
    private struct Feed {
        var claim: FeedClaim?
        var recent = RecentPositions()
        var rate = ChangeRate()
    }

    private let state = Mutex<[String: Feed]>([:])

    /// The most logs of a source. Each is stored as long as the source.
    static let mostLogs = 128

    /// Makes a claim the only one of its log. The former one is lost.
    ///
    /// - Parameter logs: those of the source's data.
    func take(_ claim: FeedClaim, _ logs: FollowedLogs) throws(SourceError) {
        let former = try state.withLock { feeds throws(SourceError) -> FeedClaim? in
            let known = Set(feeds.keys).union(logs.feeds.compactMap(\.origin.feed))
            guard known.contains(claim.log) || known.count < Self.mostLogs else {
                throw .tooLarge(
                    "the source follows \(known.count) logs, the most that it can; use the name of one of them")
            }
            let former = feeds[claim.log]?.claim
            feeds[claim.log, default: Feed()].claim = claim
            return former
        }
        former?.lose()
    }

    func release(_ claim: FeedClaim, _ logs: FollowedLogs) {
        state.withLock { feeds in
            guard feeds[claim.log]?.claim === claim else { return }
            feeds[claim.log]?.claim = nil
            // A log of which nothing was applied is none of the source's.
            if logs[.feed(claim.log)] == nil { feeds[claim.log] = nil }
        }
    }

    /// Notes the positions that data have reached, oldest first.
    func note(_ positions: [String], of log: String) {
        state.withLock { feeds in
            for position in positions { feeds[log, default: Feed()].recent.add(position) }
        }
    }

    func count(_ changes: Int, of log: String) {
        state.withLock { $0[log, default: Feed()].rate.add(changes, at: .now) }
    }

    /// Whether any log is followed or a stream of one is open.
    func isFollowing(_ logs: FollowedLogs) -> Bool {
        logs.all.contains { $0.origin.feed != nil } || state.withLock { $0.values.contains { $0.claim != nil } }
    }

    /// Whether some log had a position lately.
    func had(_ position: String) -> Bool { state.withLock { $0.values.contains { $0.recent.contains(position) } } }

    /// The logs, the one that changed last first.
    func statuses(of logs: FollowedLogs) -> [FeedStatus] {
        state.withLock { feeds in
            var names = logs.feeds.reversed().compactMap(\.origin.feed)
            names += feeds.filter { $0.value.claim != nil && !names.contains($0.key) }.keys.sorted()
            return names.map { name in
                let feed = feeds[name]
                return FeedStatus(
                    log: name, position: logs[.feed(name)]?.position, isOpen: feed?.claim != nil,
                    changesPerSecond: feed?.rate.perSecond(at: .now) ?? 0,
                    lagMilliseconds: feed?.claim?.waitingMilliseconds ?? 0)
            }
        }
    }
}

/// The right of one stream to apply a log to a source, until another stream takes it. Safe from any thread.
public final class FeedClaim: Sendable {
    public let log: String
    private let hasLost = Atomic<Bool>(false)
    private let waiting = Mutex<ContinuousClock.Instant?>(nil)
    private let whenLost: @Sendable () -> Void

    /// - Parameter whenLost: called on any thread, so it must be quick.
    public init(log: String, whenLost: @escaping @Sendable () -> Void) {
        (self.log, self.whenLost) = (log, whenLost)
    }

    /// Whether another stream has taken the log.
    public var isLost: Bool { hasLost.load(ordering: .acquiring) }

    /// Since when the oldest item that is not visible yet has waited; nil if there is none.
    public var waitingSince: ContinuousClock.Instant? {
        get { waiting.withLock { $0 } }
        set { waiting.withLock { $0 = newValue } }
    }

    fileprivate var waitingMilliseconds: Double {
        waitingSince.map { max(0, (ContinuousClock.now - $0) / .milliseconds(1)) } ?? 0
    }

    fileprivate func lose() {
        hasLost.store(true, ordering: .releasing)
        whenLost()
    }
}

/// How far a source has followed a log.
package struct FeedStatus: Sendable {
    let log: String
    let position: String?
    let isOpen: Bool
    let changesPerSecond: Double
    let lagMilliseconds: Double

    /// `{"log":…,"position":…,"state":…,"changesPerSecond":n,"lagMs":n}`.
    var json: JSONValue {
        .object([
            "log": .string(log), "position": position.map { .string($0) } ?? .null,
            "state": .string((isOpen ? ReplicationStatus.State.following : .waiting).rawValue),
            "changesPerSecond": .number(changesPerSecond), "lagMs": .number(lagMilliseconds.rounded()),
        ])
    }
}

/// The last positions that a log had, by their hashes: 128 bits, keyed anew for each process.
struct RecentPositions {
    /// How many are known.
    static let most = 65_536

    private var ring: [UInt128] = []
    /// By hash: the number of its last addition.
    private var numbers: [UInt128: Int] = [:]
    private var count = 0

    mutating func add(_ position: String) {
        let hash = Self.hash(position)
        let slot = count % Self.most
        if slot < ring.count {
            if numbers[ring[slot]] == count - Self.most { numbers[ring[slot]] = nil }
            ring[slot] = hash
        } else {
            ring.append(hash)
        }
        numbers[hash] = count
        count += 1
    }

    func contains(_ position: String) -> Bool { numbers[Self.hash(position)] != nil }

    private static func hash(_ position: String) -> UInt128 {
        func half(_ salt: UInt8) -> UInt128 {
            var hasher = Hasher()
            hasher.combine(salt)
            // Of the bytes, since strings of other bytes may be equal.
            var position = position
            position.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            return UInt128(UInt64(bitPattern: Int64(hasher.finalize())))
        }
        return half(0) << 64 | half(1)
    }
}

/// Counts changes by second.
struct ChangeRate {
    private static let seconds: Int64 = 10
    private static let start = ContinuousClock.now

    private var counts = [(second: Int64, changes: Int)](repeating: (-seconds, 0), count: Int(seconds))

    mutating func add(_ changes: Int, at moment: ContinuousClock.Instant) {
        let second = Self.second(moment)
        let slot = Int(second % Self.seconds)
        if counts[slot].second != second { counts[slot] = (second, 0) }
        counts[slot].changes += changes
    }

    /// The mean over the last seconds.
    func perSecond(at moment: ContinuousClock.Instant) -> Double {
        let first = Self.second(moment) - Self.seconds
        return Double(counts.reduce(0) { $0 + ($1.second > first ? $1.changes : 0) }) / Double(Self.seconds)
    }

    private static func second(_ moment: ContinuousClock.Instant) -> Int64 {
        max(0, (moment - start).components.seconds)
    }
}
