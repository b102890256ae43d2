// SPDX-License-Identifier: MIT
import ClusterProtocol
import Synchronization

/// The form of a stream from the client.
package enum InputForm: Sendable, Equatable {
    /// The protocol's items, each a JSON text.
    case items
    /// Items that are texts of features, each complete in itself.
    case texts
    /// A file's bytes, cut anywhere.
    case bytes(mediaType: String)
}

/// A running call, as its method sees it: who called, and whether anybody still waits for the answer. Safe from any
/// thread.
package final class CallContext: Sendable {
    /// Who opened the call.
    package let caller: Identity
    package var peer: Peer { caller.peer }
    /// What the caller may do.
    package var right: AccessRight { caller.right }
    /// When the caller stops waiting, by `MonotonicClock`; nil for never.
    package let deadline: UInt64?
    package let form: AnswerForm
    package let input: InputForm
    /// What the caller's user uses of the server.
    package let share: UserShare

    private let changes = Atomic<Int>(0)
    private let cancelled = Atomic<Bool>(false)

    package init(
        caller: Identity = Identity(.unknown, right: .admin), deadline: UInt64? = nil, form: AnswerForm = .json,
        input: InputForm = .items, share: UserShare = UserShare(.unknown)
    ) {
        self.caller = caller
        self.deadline = deadline
        self.form = form
        self.input = input
        self.share = share
    }

    /// Whether the work should stop: the caller has disconnected or cancelled, or the deadline has passed.
    package var isOver: Bool { isCancelled || isPastDeadline }

    package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    package var isPastDeadline: Bool { deadline.map { MonotonicClock.now() >= $0 } ?? false }

    /// Throws if the work should stop. Takes tens of nanoseconds.
    package func check() throws(RPCError) {
        if isCancelled { throw Self.cancelledError }
        if isPastDeadline { throw Self.deadlineError }
    }

    /// The number of features that the call has inserted, replaced or removed.
    package var changed: Int { changes.load(ordering: .relaxed) }
    package func noteChanged(_ count: Int) { changes.store(count, ordering: .relaxed) }

    package func cancel() { cancelled.store(true, ordering: .relaxed) }

    package static let cancelledError = RPCError(.cancelled, "The call was cancelled.")
    package static let deadlineError = RPCError(
        .deadlineExceeded, "The call's deadline passed. Give it more time in timeoutMs, or ask for less.")
}
