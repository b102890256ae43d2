// SPDX-License-Identifier: MIT

/// Decides what a connection of messages does next with its input and output, from opening to close. It knows no
/// socket and no clock: events go in, steps come out.
package struct ConnectionLife: Equatable {
    package enum Phase: Equatable {
        case open
        /// The client sends nothing more but waits for its answers.
        case inputEnded
        /// Input is ignored; the connection closes once everything is written.
        case ending
        /// As `ending`, for a client that may still be sending: its input is discarded.
        case finishing
        /// Everything is written. A client that is still sending gets some time to read it: closing at once would
        /// make its write fail before it reads.
        case lingering
        case closed
    }

    /// When received messages are processed.
    private enum Work: Equatable {
        case idle
        /// At the end of the loop's iteration.
        case deferred
        case running
    }

    package private(set) var phase = Phase.open
    private var work = Work.idle
    /// Whether the next turn is scheduled.
    private var isScheduled = false
    /// Whether the pool is reading a large message; the messages after it wait.
    package private(set) var isReadingLarge = false

    package init() {}

    package var isOpen: Bool { phase == .open }

    /// Whether received messages are processed.
    package var takesInput: Bool { phase == .open || phase == .inputEnded }

    package enum Step: Equatable {
        case none
        case read
        case pause
        /// Pause reading, and continue in the next iteration of the loop.
        case pauseAndSchedule
        /// Everything that the client sent has been processed: streams that it has not ended are cancelled, and
        /// the connection ends once all calls are answered.
        case endInputs
        /// Give the client some time to read the reason.
        case linger
        case close
    }

    // MARK: Input

    package enum Received: Equatable {
        case discard
        /// Process the bytes at the end of the loop's iteration.
        case deferred
        case workNow
        /// The bytes will be processed anyway.
        case keep
    }

    /// Bytes have arrived.
    ///
    /// - Parameter isMuch: whether there are too many bytes to leave them to the end of the loop's iteration.
    package mutating func received(isMuch: Bool) -> Received {
        guard takesInput else { return .discard }
        if isMuch { return work == .running ? .keep : .workNow }
        guard work == .idle, !isScheduled else { return .keep }
        work = .deferred
        return .deferred
    }

    /// The loop's iteration ends; returns true if there is something to process.
    package mutating func iterationEnded() -> Bool {
        guard work == .deferred else { return false }
        work = .idle
        return true
    }

    /// The next iteration of the loop has begun.
    package mutating func scheduledTurnCame() { isScheduled = false }

    /// Begins work if it may begin; returns false while work is running.
    package mutating func beginWork() -> Bool {
        guard phase != .closed, work != .running else { return false }
        work = .running
        return true
    }

    package mutating func endWork() { work = .idle }

    package var isWorking: Bool { work == .running }

    /// Whether the next message may be processed.
    package var takesMessages: Bool { takesInput && !isReadingLarge }

    package mutating func beganLarge() { isReadingLarge = true }

    /// The pool has read a large message; returns true if the message is still to be processed.
    package mutating func endedLarge() -> Bool {
        isReadingLarge = false
        return takesInput
    }

    /// The client sends nothing more.
    package mutating func inputFinished() { if phase == .open { phase = .inputEnded } }

    // MARK: The end

    /// Nothing more is read of a client that may still be sending, because it was asked to stop or because its input
    /// can no longer be decoded.
    package mutating func finish() {
        if phase == .open || phase == .inputEnded || phase == .ending { phase = .finishing }
    }

    /// Closes the connection once everything is written. Returns true if it is to be closed at once.
    package mutating func end() -> Bool {
        switch phase {
        case .open, .inputEnded: phase = .ending
        case .lingering: return true
        case .ending, .finishing, .closed: break
        }
        return false
    }

    /// Returns true if it was not closed before.
    package mutating func close() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    /// Returns what to do after a round of work.
    ///
    /// - Parameters:
    ///   - isUnwritten: whether bytes are waiting to be written.
    ///   - isCongested: whether the client must read before more of its calls are processed.
    ///   - hasMore: whether received messages are still unprocessed.
    ///   - isInputFull: whether too many bytes streamed by the client wait for the pool.
    package mutating func next(
        isUnwritten: Bool = false, isCongested: Bool = false, hasMore: Bool = false, isInputFull: Bool = false
    ) -> Step {
        switch phase {
        case .closed, .lingering: return .none
        case .ending: return isUnwritten ? .pause : .close
        case .finishing:
            guard !isUnwritten else { return .none }
            phase = .lingering
            return .linger
        case .open, .inputEnded: break
        }
        if isCongested || isReadingLarge { return .pause }
        if hasMore { return schedule() }
        if phase == .inputEnded { return .endInputs }
        return isInputFull ? .pause : .read
    }

    private mutating func schedule() -> Step {
        guard !isScheduled else { return .pause }
        isScheduled = true
        return .pauseAndSchedule
    }
}
