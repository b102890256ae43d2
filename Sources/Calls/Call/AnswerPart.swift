// SPDX-License-Identifier: MIT

/// Which part of an answer some bytes are.
package enum AnswerPart: Sendable {
    /// The whole answer of a call without a stream from the server.
    case result
    /// One message of a stream from the server.
    case item
    /// The message that ends such a stream.
    case end
}
