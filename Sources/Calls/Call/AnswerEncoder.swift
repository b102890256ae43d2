// SPDX-License-Identifier: MIT
import JSON

/// How a transport wraps an answer. The answer is written between `begin` and `end` directly into the outgoing bytes, so it is
/// written only once. Both are called on the thread that writes it. A value, used from any thread.
package protocol AnswerEncoder: Sendable {
    /// Whether `end` compresses, which is work for the pool.
    var compresses: Bool { get }

    func begin(_ part: AnswerPart, into bytes: inout ByteWriter)

    /// - Parameter start: the index at which `begin` began.
    func end(_ part: AnswerPart, _ facts: AnswerFacts, from start: Int, in bytes: inout ByteWriter)
}
