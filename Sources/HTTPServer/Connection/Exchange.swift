// SPDX-License-Identifier: MIT
import RPC
import JSON

/// A request in progress, and what is needed to answer it. Belongs to the loop's thread.
final class Exchange {
    let head: RequestHead
    /// When its head was complete, in nanoseconds of `MonotonicClock`.
    let started: UInt64
    /// The requested resource; nil if the request was rejected before it was known.
    var resource: Resource?
    /// The response's `Access-Control-Allow-Origin`.
    var allowedOrigin: String?
    /// What happens to the body.
    var body = Body.discarded
    var inputEnded = false
    /// Whether the response has been written or is being streamed.
    var isAnswered = false
    /// The call that answers the request, once it has begun.
    var call: Call?
    /// The response with which the watch begins when its first item is available. Until then an error is answered
    /// as a status.
    var watch: (form: WatchConnection.Form, head: ResponseHead)?
    /// Whether the watch's items say how long the daemon took for them.
    var timesWatch = false
    /// The part of an archive that is still to be sent.
    var archive: ArchiveRest?
    /// How to send the call's answer.
    var answer = AnswerPlan()

    enum Body {
        case discarded
        case collected([UInt8])
        /// The body is passed to the call piece by piece.
        case streamed
    }

    init(_ head: RequestHead, started: UInt64) {
        self.head = head
        self.started = started
    }

    var isHead: Bool { head.method == .head }
}

/// The part of an archive that is still to be sent.
struct ArchiveRest {
    let archive: ServedArchive
    var range: Range<Int>
    /// The head until it is written, then nil.
    var head: ResponseHead?
    /// Whether the connection closes after the body.
    var closes = false
    /// Whether a piece is being read on the pool.
    var isReading = false

    init(_ archive: ServedArchive, _ range: Range<Int>) {
        self.archive = archive
        self.range = range
    }
}
