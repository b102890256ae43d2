// SPDX-License-Identifier: MIT
import ClusterProtocol
import Glibc
import Synchronization

/// A call in progress, as its handler sees it: whether anybody still waits for the answer. Safe from any thread.
public final class CallContext: Sendable {
    /// Who opened the call.
    public let peer: Peer
    /// What the caller may do.
    public let right: AccessRight
    /// When the caller stops waiting, by `MonotonicClock`; nil: never.
    public let deadline: UInt64?

    private let cancelled = Atomic<Bool>(false)

    public init(peer: Peer = .unknown, right: AccessRight = .admin, deadline: UInt64? = nil) {
        self.peer = peer
        self.right = right
        self.deadline = deadline
    }

    /// Whether the work should stop: the caller has gone, has cancelled, or waits no more.
    public var isOver: Bool { isCancelled || isPastDeadline }

    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    public var isPastDeadline: Bool { deadline.map { MonotonicClock.now() >= $0 } ?? false }

    /// Throws where the work should stop. Some tens of nanoseconds.
    public func check() throws(RPCError) {
        if isCancelled { throw Self.cancelledError }
        if isPastDeadline { throw Self.deadlineError }
    }

    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    package static let cancelledError = RPCError(.cancelled, "The call was cancelled.")
    package static let deadlineError = RPCError(
        .deadlineExceeded, "The call's deadline passed. Give it more time in timeoutMs, or ask for less.")
}

/// Who is at the other end of a connection.
public struct Peer: Sendable, Equatable {
    public var processID: Int32
    public var userID: UInt32
    public var groupID: UInt32
    /// Its supplementary groups.
    public var groups: [UInt32]

    public init(processID: Int32, userID: UInt32, groupID: UInt32, groups: [UInt32] = []) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
        self.groups = groups
    }

    /// Nobody in particular.
    public static let unknown = Peer(processID: 0, userID: .max, groupID: .max)
}

/// The system's clock that is never set.
public enum MonotonicClock {
    /// Nanoseconds since some moment in the past.
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
