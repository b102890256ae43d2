// SPDX-License-Identifier: MIT
import Calls
import JSON
import Testing

@testable import SocketDoor

@Suite("Buffers of an iteration's answers")
struct IterationAnswersTests {
    @Test("are lent again once they are given back empty")
    func lending() {
        let answers = IterationAnswers()
        let first = answers.borrow()
        #expect(answers.borrow() !== first)
        answers.giveBack(first)
        #expect(answers.borrow() === first)
    }

    @Test("with bytes in them are not lent again")
    func full() {
        let answers = IterationAnswers()
        let buffer = answers.borrow()
        buffer.writer.append("an answer of somebody else")
        answers.giveBack(buffer)
        let next = answers.borrow()
        #expect(next !== buffer && next.writer.count == 0)
    }
}
