// SPDX-License-Identifier: MIT
import Testing

@testable import RPC

@Suite("Connection life") struct ConnectionLifeTests {
    private var life = ConnectionLife()

    @Test("bytes are processed once per iteration") mutating func bytesAreWorkedOnOnceATurn() {
        #expect(life.received(isMuch: false) == .deferred)
        #expect(life.received(isMuch: false) == .keep)
        #expect(life.iterationEnded() == true)
        #expect(life.iterationEnded() == false)
        #expect(life.received(isMuch: true) == .workNow)
    }

    @Test("processing is not re-entered") mutating func workDoesNotBeginWithinWork() {
        #expect(life.beginWork() == true)
        #expect(life.beginWork() == false)
        #expect(life.received(isMuch: true) == .keep)
        life.endWork()
        #expect(life.beginWork() == true)
    }

    @Test("reading stops and resumes with the client") mutating func readingFollowsTheClient() {
        #expect(life.next() == .read)
        #expect(life.next(isCongested: true) == .pause)
        #expect(life.next(isInputFull: true) == .pause)
        #expect(life.next(isUnwritten: true) == .read)
        life.beganLarge()
        #expect(!life.takesMessages)
        #expect(life.next(hasMore: true) == .pause)
        #expect(life.endedLarge() == true)
        #expect(life.takesMessages)
    }

    @Test("the rest is scheduled once") mutating func theRestIsScheduledOnce() {
        #expect(life.next(hasMore: true) == .pauseAndSchedule)
        #expect(life.next(hasMore: true) == .pause)
        life.scheduledTurnCame()
        #expect(life.beginWork() == true)
        life.endWork()
        #expect(life.next(hasMore: true) == .pauseAndSchedule)
    }

    @Test("work in between does not schedule the rest again") mutating func workInBetweenKeepsTheTurn() {
        #expect(life.next(hasMore: true) == .pauseAndSchedule)
        #expect(life.received(isMuch: false) == .keep)
        #expect(life.beginWork() == true)
        life.endWork()
        #expect(life.next(hasMore: true) == .pause)
    }

    @Test("a client that half-closes gets its answers") mutating func aClientThatEndsItsSideGetsItsAnswers() {
        life.inputFinished()
        #expect(life.takesMessages)
        #expect(life.next(hasMore: true) == .pauseAndSchedule)
        #expect(life.next(isCongested: true) == .pause)
        #expect(life.next(isUnwritten: true) == .endInputs)
        #expect(life.end() == false)
        #expect(!life.takesMessages)
        #expect(life.next(isUnwritten: true) == .pause)
        #expect(life.next() == .close)
    }

    @Test("a client whose connection fails has time to read the reason") mutating func aFailedClientHasTimeToReadWhy() {
        life.finish()
        #expect(life.received(isMuch: true) == .discard)
        #expect(life.next(isUnwritten: true) == .none)
        #expect(life.next() == .linger)
        #expect(life.next() == .none)
        #expect(life.end() == true)
    }

    @Test("it closes once") mutating func itClosesOnce() {
        #expect(life.close() == true)
        #expect(life.close() == false)
        #expect(life.beginWork() == false)
        #expect(life.next(hasMore: true) == .none)
        #expect(life.endedLarge() == false)
    }

    /// Every order of six events: nothing follows a close, and no message is taken after the end began.
    @Test("every order of events ends the connection once") func everyOrderEndsOnce() {
        for number in 0..<46_656 {
            var life = ConnectionLife()
            var (rest, ended, closed) = (number, false, false)
            for _ in 0..<6 {
                switch rest % 6 {
                case 0: _ = life.received(isMuch: true)
                case 1: life.inputFinished()
                case 2:
                    life.finish()
                    ended = true
                case 3:
                    _ = life.end()
                    ended = true
                case 4: _ = life.next()
                default:
                    #expect(life.close() == !closed)
                    closed = true
                }
                rest /= 6
                if ended || closed { #expect(!life.takesMessages) }
                if closed { #expect(life.next(hasMore: true) == .none) }
            }
        }
    }
}
