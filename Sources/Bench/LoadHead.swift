// SPDX-License-Identifier: MIT

/// Reads the beginnings of a server's answers.
protocol LoadHead {
    /// Reads the head of an answer: the answer, and the length of the head; nil if the head is not
    /// complete.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> (answer: LoadAnswer, length: Int)?
}
