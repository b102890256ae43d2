// SPDX-License-Identifier: MIT
import Synchronization

/// Counts the bytes of answers that wait until clients read them. Safe from any thread.
///
/// What other users' clients leave unread does not stop a user whose clients read: below its own part of the
/// limit a user is always answered, whatever the total.
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

    /// Whether the user's clients must read before a large answer for the user is begun.
    package func isSpent(for share: UserShare) -> Bool { isSpent && share.unread >= usersPart }

    /// Whether a query of the user may start.
    ///
    /// If clients have not begun to read answers of the size of the user's part, the user's queries run one at a time: each of
    /// them may add a large answer that nobody reads. A user whose clients read is not slowed down.
    ///
    /// - Parameter running: the number of the user's queries that run.
    package func permitsQuery(of share: UserShare, beside running: Int) -> Bool {
        !isSpent(for: share) && (running == 0 || share.untouched < usersPart)
    }

    /// The part of the limit that each user has, in bytes.
    private var usersPart: Int { limit / 4 }

    /// The bytes of an answer's first part. More than the system buffers, so once they are accepted, the client has begun to
    /// read.
    package static let firstPart = 4 << 20

    /// Passes bytes to a transport, and counts them until the transport releases them.
    ///
    /// - Parameters:
    ///   - bytes: they must not change during `owner`'s lifetime.
    ///   - write: called for each part, in order; it must retain the part's owner until the system has accepted the part.
    package func pass(
        _ bytes: UnsafeRawBufferPointer, keeping owner: AnyObject, for share: UserShare,
        _ write: (_ part: UnsafeRawBufferPointer, _ owner: AnyObject) -> Void
    ) {
        let claim = Claim(bytes.count, of: share, in: self)
        let first = min(bytes.count, Self.firstPart)
        write(UnsafeRawBufferPointer(rebasing: bytes[..<first]), Part(owner, claim, isFirst: true))
        guard first < bytes.count else { return }
        write(UnsafeRawBufferPointer(rebasing: bytes[first...]), Part(owner, claim, isFirst: false))
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
    fileprivate func give(back count: Int, untouched: Int, of share: UserShare) {
        let (wasSpent, wasHeld) = (isSpent, share.untouched >= usersPart)
        waiting.subtract(count, ordering: .relaxed)
        share.addUnread(-count)
        share.addUntouched(-untouched)
        guard wasSpent && !isSpent || wasHeld && share.untouched < usersPart else { return }
        onRoom.withLock { $0 }?()
    }

    /// Waiting bytes, counted for as long as this object lives. Belongs to one thread at a time.
    package final class Claim {
        private let count: Int
        /// The bytes of an answer that its client has not begun to read.
        private var untouched: Int
        private let share: UserShare
        private let budget: UnreadBudget

        package init(_ count: Int, of share: UserShare, in budget: UnreadBudget) {
            self.count = count
            untouched = count
            self.share = share
            self.budget = budget
            budget.waiting.add(count, ordering: .relaxed)
            share.addUnread(count)
            share.addUntouched(count)
        }

        /// The client has begun to read the answer.
        package func touch() {
            guard untouched > 0 else { return }
            budget.give(back: 0, untouched: untouched, of: share)
            untouched = 0
        }

        deinit { budget.give(back: count, untouched: untouched, of: share) }
    }
}
