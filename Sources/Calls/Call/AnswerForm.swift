// SPDX-License-Identifier: MIT

/// The form of an answer.
package enum AnswerForm: Sendable {
    /// The JSON value that the protocol defines.
    case json
    /// The content itself if the method has one besides JSON: a tile's bytes, the metrics' text. Else JSON.
    case raw
}
