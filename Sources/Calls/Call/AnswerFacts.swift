// SPDX-License-Identifier: MIT

/// What a transport may need to know about an answer besides its bytes.
package struct AnswerFacts: Sendable, Equatable {
    package var mediaType: String
    /// The number of the source revision that it was made from; nil if there is none.
    package var revision: UInt64?

    package init(mediaType: String = Self.json, revision: UInt64? = nil) {
        self.mediaType = mediaType
        self.revision = revision
    }

    package static let json = "application/json"
}
