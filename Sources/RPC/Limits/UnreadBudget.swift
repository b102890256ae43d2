// SPDX-License-Identifier: MIT
import Synchronization

/// Counts the bytes of answers that wait until clients read them. Safe from any thread.
///
/// Connections come first: one whose client reads promptly goes on beside others that have used the limit up, also of
/// its own user. Users come second: below its own part of the limit a user is always answered, whatever the total.
package final class UnreadBudget: Sendable {
    private let waiting = Atomic<Int>(0)
    private let limit: Int
    /// Answers up to this size are always written, whatever the total: the system's own buffers hold as much.
    package static let reserve = 64 << 10

    /// Called when a user may have room again who had none. On any thread.
    private let onRoom = Mutex<(@Sendable () -> Void)?>(nil)

    package init(limit: Int) { self.limit = limit }

    package func setOnRoom(_ body: @escaping @Sendable () -> Void) { onRoom.withLock { $0 = body } }

    package var bytes: Int { waiting.load(ordering: .relaxed) }

    /// Whether the limit is reached.
    package var isSpent: Bool { bytes >= limit }

    /// Whether clients must read before a large answer for the connection is begun.
    package func isSpent(for connection: UnreadAccount) -> Bool {
        let most = isSpent && connection.readsPromptly ? limit + part : limit
        return bytes >= most && connection.share[.unread] >= part
    }

    /// The size of an answer that is written at once although the limit is spent for the connection. If its client
    /// has read everything, that is enough for a map's view: whoever lets large answers wait does not delay it.
    /// Half of the part beyond the limit is kept for connections whose clients read promptly.
    package func allowance(of connection: UnreadAccount) -> Int {
        permitsView(of: connection) ? Self.view : Self.reserve
    }

    /// Whether an answer may be tried that is discarded if it is larger than a view.
    package func permitsView(of connection: UnreadAccount) -> Bool {
        connection.hasNothingWaiting && !connection.needsRoom && bytes < limit + part / 2
    }

    static let view = 512 << 10

    /// Whether a query of the connection may start.
    ///
    /// If clients have not begun to read answers of the size of the user's part, the user's queries run one at a time:
    /// each of them may add a large answer that nobody reads. Beyond the limit they always do, so that what is unread
    /// exceeds it by no more than before. A connection whose client reads promptly is not slowed down.
    ///
    /// - Parameter running: the number of the user's queries that run.
    package func permitsQuery(of connection: UnreadAccount, beside running: Int) -> Bool {
        guard !isSpent(for: connection) else { return permitsView(of: connection) }
        if running == 0 { return true }
        return connection.share[.untouched] < part || !isSpent && connection.readsPromptly
    }

    /// The part of the limit that each user has, and the part beyond it that connections have whose clients read
    /// promptly, in bytes.
    private var part: Int { limit / 4 }

    /// The bytes of an answer's first part. More than the system buffers, so once they are accepted, the client has
    /// begun to read.
    package static let firstPart = 4 << 20

    /// Passes bytes to a transport, and counts what keeps them until the transport releases them.
    ///
    /// - Parameters:
    ///   - bytes: they must be at the same address, and not change, during `owner`'s lifetime.
    ///   - size: the bytes that `owner` holds: more than `bytes` if the system has accepted some already.
    ///   - write: called for each part, in order; it must retain the part's owner until the system has accepted the
    ///     part.
    package func pass(
        _ bytes: Span<UInt8>, keeping owner: AnyObject, of size: Int? = nil,
        for connection: UnreadAccount, _ write: (_ part: Span<UInt8>, _ owner: AnyObject) -> Void
    ) {
        let claim = Claim(size ?? bytes.count, of: connection, in: self)
        let first = min(bytes.count, Self.firstPart)
        write(bytes.extracting(..<first), Part(owner, claim, isFirst: true))
        guard first < bytes.count else { return }
        write(bytes.extracting(first...), Part(owner, claim, isFirst: false))
    }

    /// Bytes passed to the system.
    private final class Part {
        private let owner: AnyObject
        private let claim: Claim
        private let isFirst: Bool

        init(_ owner: AnyObject, _ claim: Claim, isFirst: Bool) {
            (self.owner, self.claim, self.isFirst) = (owner, claim, isFirst)
        }

        deinit { if isFirst { claim.touch() } }
    }

    /// Changes what waits, and reports if that gives a user room.
    fileprivate func give(back count: Int, untouched: Int, of connection: UnreadAccount) {
        let share = connection.share
        let (before, wasHeld) = (bytes, share[.untouched] >= part)
        waiting.subtract(count, ordering: .relaxed)
        share.add(-count, to: .unread)
        share.add(-untouched, to: .untouched)
        connection.wasRead(count)
        let hasRoom = [limit, limit + part / 2, limit + part].contains { before >= $0 && bytes < $0 }
        let isRead = isSpent && connection.hasNothingWaiting
        guard hasRoom || isRead || wasHeld && share[.untouched] < part else { return }
        onRoom.withLock { $0 }?()
    }

    /// Waiting bytes, counted for as long as this object lives. Belongs to one thread at a time.
    package final class Claim {
        private let count: Int
        /// The bytes of an answer that its client has not begun to read.
        private var untouched: Int
        private let connection: UnreadAccount
        private let budget: UnreadBudget

        package init(_ count: Int, of connection: UnreadAccount, in budget: UnreadBudget) {
            self.count = count
            untouched = count
            self.connection = connection
            self.budget = budget
            budget.waiting.add(count, ordering: .relaxed)
            connection.share.add(count, to: .unread)
            connection.share.add(count, to: .untouched)
            connection.wait(count)
        }

        /// The client has begun to read the answer.
        package func touch() {
            guard untouched > 0 else { return }
            budget.give(back: 0, untouched: untouched, of: connection)
            untouched = 0
        }

        deinit { budget.give(back: count, untouched: untouched, of: connection) }
    }
}

/// What the client of one connection leaves unread, and whether it has read promptly so far. The loop's thread of the
/// connection changes it; any thread may read it.
package final class UnreadAccount: Sendable {
    package let share: UserShare
    /// Bytes that wait for the client.
    private let waiting = Atomic<Int>(0)
    /// Bytes that the system has accepted for the client.
    private let accepted = Atomic<Int>(0)
    /// When the client last made room, or bytes began to wait, by `MonotonicClock`.
    private let since = Atomic<UInt64>(0)
    /// Whether the last bytes that waited did so for longer than `patience`.
    private let wasSlow = Atomic<Bool>(false)
    /// Whether an answer was tried since the last one that was sent, and was larger than a view.
    private let isTooLarge = Atomic<Bool>(false)

    /// A client that makes room within this time reads promptly, in nanoseconds.
    static let patience: UInt64 = 1_000_000_000

    package init(_ share: UserShare) { self.share = share }

    /// Whether the client has read some answers, and lets none wait for long. Of a new client nothing is known.
    package var readsPromptly: Bool {
        // The clock is read only if it matters.
        hasNothingWaiting ? hasRead : readsPromptly(at: MonotonicClock.now())
    }

    func readsPromptly(at now: UInt64) -> Bool { hasRead && (hasNothingWaiting || !isLate(now)) }

    /// Whether its next answer must wait until there is room for a large one.
    var needsRoom: Bool { isTooLarge.load(ordering: .relaxed) }

    func exceededView() { isTooLarge.store(true, ordering: .relaxed) }

    var hasNothingWaiting: Bool { waiting.load(ordering: .relaxed) == 0 }

    private var hasRead: Bool {
        accepted.load(ordering: .relaxed) >= UnreadBudget.reserve && !wasSlow.load(ordering: .relaxed)
    }

    private func isLate(_ now: UInt64) -> Bool { now > since.load(ordering: .relaxed) &+ Self.patience }

    /// The system has accepted bytes at once.
    package func wasAccepted(_ count: Int) {
        accepted.add(count, ordering: .relaxed)
        isTooLarge.store(false, ordering: .relaxed)
    }

    fileprivate func wait(_ count: Int) {
        isTooLarge.store(false, ordering: .relaxed)
        if waiting.add(count, ordering: .relaxed).oldValue == 0 {
            since.store(MonotonicClock.now(), ordering: .relaxed)
        }
    }

    /// The system has accepted bytes that waited, or the first part of them.
    fileprivate func wasRead(_ count: Int) {
        let now = MonotonicClock.now()
        waiting.subtract(count, ordering: .relaxed)
        accepted.add(count, ordering: .relaxed)
        wasSlow.store(isLate(now), ordering: .relaxed)
        since.store(now, ordering: .relaxed)
    }
}
