// SPDX-License-Identifier: MIT

/// How to turn a call's answer into a response.
struct AnswerPlan {
    var mediaType: StaticString = "application/json"
    /// Set if the answer depends only on the data: it may be cached and revalidated.
    var tag: EntityTag?
    var variation = Variation.none
    /// The part of the source that the answer shows, if the caller does not see everything.
    var part: [UInt8] = []
    /// Whether the answer is cached for later requests.
    var isKept = false
    var acceptsGzip = false
    /// Whether the answer is sent part by part, as the call makes it.
    var isStreamed = false
    /// Whether an answer without bytes becomes 204.
    var mayBeEmpty = false
    /// Whether a check that reports "not serving" becomes 503.
    var isHealth = false

    /// Which fields of the request the answer depends on, besides `Origin` if any origin may ask.
    enum Variation {
        case none
        case encoding
        case encodingAndMediaType
        case encodingAndProtocol
    }
}
