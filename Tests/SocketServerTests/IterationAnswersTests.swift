// SPDX-License-Identifier: MIT
import RPC
import JSON
import Testing

@testable import SocketServer

@Suite("Buffers of an iteration's answers")
struct IterationAnswersTests {
    @Test("are reused once they are returned empty")
    func lending() {
        let answers = IterationAnswers()
        let first = answers.borrow()
        #expect(answers.borrow() !== first)
        answers.giveBack(first)
        #expect(answers.borrow() === first)
    }

    @Test("that are not empty are not reused") func full() {
        let answers = IterationAnswers()
        let buffer = answers.borrow()
        buffer.writer.append("an answer of somebody else")
        answers.giveBack(buffer)
        let next = answers.borrow()
        #expect(next !== buffer)
        #expect(next.writer.count == 0)
    }
}
