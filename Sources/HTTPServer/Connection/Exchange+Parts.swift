// SPDX-License-Identifier: MIT
import JSON
import RPC

/// What has been sent of an answer in parts.
struct SentParts {
    let status: HTTPStatus
    /// Whether the connection closes after the body.
    let closes: Bool
    var bytes = 0
}

/// Sends answers of any length part by part, each once the client has taken the one before.
extension Exchange {
    /// Whether the answer is sent in parts.
    var isStreamed: Bool { answer.isStreamed && !isAnswered }

    /// The call has made a part.
    func send(_ part: OutgoingBytes) {
        guard isServing else { return }
        if parts == nil {
            if let tag = answer.tag, matchesAllAnswers {
                endCall()
                return respondNotModified(tag, .plain, answer)
            }
            if isHead { return respondToHead() }
            begin(headOfParts(head.isVersion10 ? .untilClose : .chunked))
        }
        part.writer.withBytes { write($0, part) }
    }

    private func headOfParts(_ length: ResponseHead.Length) -> ResponseHead {
        var response = ResponseHead(status: .ok, length: length, mediaType: answer.mediaType, etag: answer.tag)
        response.isGzipped = answer.acceptsGzip
        response.vary = server.rules.vary(answer.variation)
        response.cacheControl = answer.tag == nil ? "no-store" : cacheControl
        response.serverTime = MonotonicClock.now() &- started
        return response
    }

    private func begin(_ head: ResponseHead) {
        var head = head
        complete(&head, closes: head.length == .untilClose)
        channel.write(head)
        parts = SentParts(status: head.status, closes: head.closes)
    }

    /// The answer exists, which is all that HEAD asks for.
    private func respondToHead() {
        endCall()
        send(headOfParts(.none))
    }

    private func endCall() {
        let call = call
        self.call = nil
        call?.cancel()
    }

    private func write(_ bytes: Span<UInt8>, _ owner: OutgoingBytes?) {
        parts?.bytes += bytes.count
        channel.write(bytes, keeping: owner)
    }

    /// The client has taken what was sent.
    package func continueParts() { if isStreamed { call?.wantToSend() } }

    /// The call has made the last part.
    func finishParts(_ bytes: Span<UInt8>, _ owner: OutgoingBytes?) {
        guard isServing, let parts else { return }
        write(bytes, owner)
        channel.finishBody()
        isAnswered = true
        server.record(parts.status, parts.bytes + bytes.count, of: head, from: channel)
        if parts.closes || server.isDraining { channel.end() }
    }
}
