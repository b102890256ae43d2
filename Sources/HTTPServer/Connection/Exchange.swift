// SPDX-License-Identifier: MIT
import ClusterProtocol
import RPC
import JSON

/// A request in progress, and its response. It knows what a request means and how it is answered; how bytes come and go
/// is its channel's business. Belongs to the loop's thread.
package final class Exchange {
    unowned let channel: any ResponseChannel
    let head: RequestHead
    /// When its head was complete, in nanoseconds of `MonotonicClock`.
    let started: UInt64
    /// Who asks: the connection's client, or the bearer of the request's token.
    var identity: Identity
    /// Whether it does not matter who asks.
    var isAnonymous = false
    /// The requested resource; nil if the request was rejected before it was known.
    var resource: Resource?
    /// The response's `Access-Control-Allow-Origin`.
    var allowedOrigin: String?
    /// What happens to the body.
    var body = Body.discarded
    package internal(set) var inputEnded = false
    /// Whether the response has been written or is being streamed.
    package internal(set) var isAnswered = false
    /// The call that answers the request, once it has begun.
    var call: Call?
    /// The response with which the watch begins when its first item is available. Until then an error is answered
    /// as a status.
    var watch: (form: WatchStream.Form, head: ResponseHead)?
    /// Whether the watch's items say how long the daemon took for them.
    var timesWatch = false
    /// The part of an archive that is still to be sent.
    var archive: ArchiveRest?
    /// What has been sent of an answer in parts; nil before the first.
    var parts: SentParts?
    /// How the request speaks Connect; nil if it does not.
    var connect: ConnectForm?
    /// How to send the call's answer.
    var answer = AnswerPlan()
    /// Bytes of the body being collected.
    private(set) var heldBody: InputClaim

    enum Body {
        case discarded
        case collected([UInt8])
        /// The body is passed to the call piece by piece.
        case streamed
        /// The body has the messages of a Connect stream.
        case messages(ConnectStream)
    }

    package init(_ head: RequestHead, on channel: any ResponseChannel) {
        self.head = head
        self.channel = channel
        started = MonotonicClock.now()
        identity = channel.caller.identity
        heldBody = InputClaim(in: channel.server.engine.load.input, of: channel.caller.share)
    }

    var server: HTTPServer { channel.server }
    var caller: Caller { channel.caller }

    /// Who asks, by the current rules: since the head has arrived they may have changed.
    func currentIdentity() throws(RPCError) -> Identity {
        // Copying the rules costs more than the look.
        if isAnonymous || server.rules.tokens == nil { return isAnonymous ? identity : caller.identity }
        return try server.rules.renewed(identity, on: caller.identity)
    }

    /// Counts bytes of the body that are held.
    func holdBody(_ count: Int) { heldBody.bytes += count }

    /// Bytes of the body that wait to be processed.
    package var waitingInputBytes: Int {
        if case .messages(let stream) = body { return stream.waitingBytes }
        return call?.waitingInputBytes ?? 0
    }

    /// Whether the client's messages are taken although the response has begun.
    package var takesMessages: Bool { if case .messages = body { true } else { false } }

    /// Frees what it holds.
    package func close() {
        heldBody.bytes = 0
        if case .messages(let stream) = body { stream.close() }
    }

    /// Nobody waits for the response any more.
    package func abandon() {
        close()
        let call = call
        self.call = nil
        call?.cancel()
    }

    /// Answers what is no valid request.
    package static func refuse(_ failure: RequestFailure, on channel: any ResponseChannel) {
        let rules = channel.server.rules
        failure.body.withBytes { body in
            var head = failure.head(body.count)
            head.closes = true
            head.resourcePolicy = rules.resourcePolicy
            head.vary = rules.varyOfErrors
            channel.write(head)
            channel.write(body, keeping: nil)
            channel.finishBody()
            channel.server.record(head.status, body.count, of: nil, from: channel)
        }
        channel.end()
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
