// SPDX-License-Identifier: MIT
import JSON

/// The params of a call: an object, or its JSON text.
///
/// Text is sent as it is, so that integers beyond 2^53 keep their digits.
public struct CallParams: Sendable, Equatable {
    /// Empty if `text` is not.
    let object: JSONObject
    let text: String

    public init(_ object: JSONObject) {
        self.object = object
        text = ""
    }

    /// - Parameter text: a JSON object's text. It is not checked here: the server answers what is not JSON.
    public init(text: String) {
        object = [:]
        self.text = text
    }
}
