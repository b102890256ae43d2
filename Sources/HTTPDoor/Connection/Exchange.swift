// SPDX-License-Identifier: MIT
import Calls
import JSON

/// A request under way, and what its response needs to know of it. Belongs to the loop's thread.
final class Exchange {
    let head: RequestHead
    let started: UInt64
    /// What the request was understood as; nil if it was refused before.
    var resource: Resource?
    /// The same, with all of its params, if the same target was requested recently.
    var query: RecentQueries.Query?
    /// `Access-Control-Allow-Origin` of the response.
    var allowedOrigin: String?
    /// What becomes of the body.
    var body = Body.discarded
    var inputEnded = false
    /// The response is written, or is being streamed.
    var isAnswered = false
    /// The call that answers it, once it has begun.
    var call: Call?
    /// The response with which the watch begins, once its first item is there. Until then an error is a status.
    var watch: (form: WatchConnection.Form, head: ResponseHead)?
    /// What is still to be sent of an archive.
    var archive: ArchiveRest?
    /// How the answer of the call is sent.
    var answer = AnswerPlan()

    enum Body {
        case discarded
        case collected([UInt8])
        /// Goes to the call piece by piece.
        case streamed
    }

    init(_ head: RequestHead, started: UInt64) {
        self.head = head
        self.started = started
    }

    var isHead: Bool { head.method == .head }
}

/// How a call's answer becomes a response.
struct AnswerPlan {
    var mediaType: StaticString = "application/json"
    /// Set if the answer depends only on the data: it may be cached and asked for again.
    var tag: EntityTag?
    var vary: String?
    /// Whether the answer is kept for the next who asks.
    var isKept = false
    var acceptsGzip = false
    /// Whether an answer without bytes is 204.
    var mayBeEmpty = false
    /// Whether a check that says "not serving" is 503.
    var isHealth = false
}
