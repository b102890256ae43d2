// SPDX-License-Identifier: MIT

/// What a connection of messages does next with its input and output: from its opening to its close. No socket, no
/// clock: events go in, steps come out.
package struct ConnectionLife: Equatable {
    package enum Phase: Equatable {
        case open
        /// The client sends nothing more, but waits for its answers.
        case inputEnded
        /// Nothing more is read; the connection closes once everything is written.
        case ending
        /// The stream of bytes can be followed no longer: what still comes is thrown away, and the connection closes
        /// once the reason is written.
        case failed
        /// Everything is written after a failure. A client that is in the midst of sending has some time to read why:
        /// a write that breaks would keep it from that.
        case lingering
        case closed
    }

    /// When the messages that have come are worked on.
    private enum Work: Equatable {
        case idle
        /// At the end of the loop's iteration.
        case deferred
        case running
        /// In the next iteration of the loop.
        case scheduled
    }

    package private(set) var phase = Phase.open
    private var work = Work.idle
    /// Whether the pool reads a large message; those behind it wait.
    package private(set) var isReadingLarge = false

    package init() {}

    /// How things stand after some work.
    package struct Standing: Equatable {
        /// Whether bytes wait to be written.
        package var isUnwritten = false
        /// Whether the client must read before more is done for it.
        package var isCongested = false
        /// Whether messages that have come are still to be worked on.
        package var hasMore = false
        /// Whether too much of what the client streams waits for the pool.
        package var isInputFull = false

        package init(
            isUnwritten: Bool = false, isCongested: Bool = false, hasMore: Bool = false,
            isInputFull: Bool = false
        ) {
            self.isUnwritten = isUnwritten
            self.isCongested = isCongested
            self.hasMore = hasMore
            self.isInputFull = isInputFull
        }
    }

    package enum Step: Equatable {
        case none
        case read
        case pause
        /// Pause, and work on in the next iteration of the loop.
        case pauseAndSchedule
        /// All that the client sent has been seen: streams that it has not ended are over, and the connection ends
        /// once all calls are answered.
        case endInputs
        /// Give the client some time to read why.
        case linger
        case close
    }

    // MARK: Input

    package enum Received: Equatable {
        case discard
        /// Work on it at the end of the loop's iteration.
        case deferred
        case workNow
        /// It is going to be worked on anyway.
        case keep
    }

    /// Bytes have come.
    ///
    /// - Parameter isMuch: whether they are too many to be left to the end of the loop's iteration.
    package mutating func received(isMuch: Bool) -> Received {
        guard phase == .open || phase == .inputEnded else { return .discard }
        if isMuch { return work == .running ? .keep : .workNow }
        guard work == .idle else { return .keep }
        work = .deferred
        return .deferred
    }

    /// The end of the loop's iteration; true if there is something to work on.
    package mutating func iterationEnded() -> Bool {
        guard work == .deferred else { return false }
        work = .idle
        return true
    }

    /// The next iteration of the loop has come.
    package mutating func scheduledTurnCame() {
        if work == .scheduled { work = .idle }
    }

    /// Whether work may begin; false within it.
    package mutating func beginWork() -> Bool {
        guard phase != .closed, work != .running else { return false }
        work = .running
        return true
    }

    package mutating func endWork() { work = .idle }

    package var isWorking: Bool { work == .running }

    /// Whether the next message may be taken.
    package var takesMessages: Bool {
        (phase == .open || phase == .inputEnded) && !isReadingLarge
    }

    package mutating func beganLarge() { isReadingLarge = true }

    /// The pool has read a large message; true if it still counts.
    package mutating func endedLarge() -> Bool {
        isReadingLarge = false
        return phase == .open || phase == .inputEnded
    }

    /// The client sends nothing more.
    package mutating func inputFinished() { if phase == .open { phase = .inputEnded } }

    // MARK: The end

    /// The stream of bytes can be followed no longer.
    package mutating func fail() {
        if phase == .open || phase == .inputEnded || phase == .ending { phase = .failed }
    }

    /// Closes once everything is written. True if it is to be closed at once.
    package mutating func end() -> Bool {
        switch phase {
        case .open, .inputEnded: phase = .ending
        case .lingering: return true
        case .ending, .failed, .closed: break
        }
        return false
    }

    /// True if it was not closed before.
    package mutating func close() -> Bool {
        defer { phase = .closed }
        return phase != .closed
    }

    /// What is to be done next.
    package mutating func next(_ standing: Standing) -> Step {
        switch phase {
        case .closed, .lingering: return .none
        case .ending: return standing.isUnwritten ? .pause : .close
        case .failed:
            guard !standing.isUnwritten else { return .none }
            phase = .lingering
            return .linger
        case .open, .inputEnded: break
        }
        if standing.isCongested || isReadingLarge { return .pause }
        if standing.hasMore { return schedule() }
        if phase == .inputEnded { return .endInputs }
        return standing.isInputFull ? .pause : .read
    }

    private mutating func schedule() -> Step {
        guard work != .scheduled else { return .pause }
        work = .scheduled
        return .pauseAndSchedule
    }
}
