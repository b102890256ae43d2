// SPDX-License-Identifier: MIT

/// What a server stream wrote.
package enum StreamStep: Sendable {
    case item(AnswerFacts)
    /// Nothing for now.
    case nothing
    /// The object that ends the stream successfully.
    case end
}
