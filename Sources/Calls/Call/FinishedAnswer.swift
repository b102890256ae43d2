// SPDX-License-Identifier: MIT

/// A part of an answer, ready to be sent.
package struct FinishedAnswer {
    package let bytes: OutgoingBytes
    package let part: AnswerPart
    package let facts: AnswerFacts
}
