// SPDX-License-Identifier: MIT
import JSON

/// The params of a call: an object, or its JSON text.
///
/// Text is sent unchanged, so that integers beyond 2^53 keep their digits.
public struct CallParams: Sendable, Equatable {
    /// Empty if `text` is not empty.
    let object: JSONObject
    let text: String

    public init(_ object: JSONObject) {
        self.object = object
        text = ""
    }

    /// - Parameter text: the text of a JSON object. It is not checked here: the server reports text that is not JSON.
    public init(text: String) {
        object = [:]
        self.text = text
    }
}
