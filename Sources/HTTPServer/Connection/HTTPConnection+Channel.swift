// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import RPC

/// Carries exchanges as HTTP/1.1 does: the head as text, the body after it.
extension HTTPConnection: ResponseChannel {
    var takesWebSockets: Bool { true }

    func makeCallID() -> Int64 {
        callID &+= 1
        return callID
    }

    func limitBody(to most: Int) { reader.limitBody(to: most) }

    func sendContinue() { server.output.append("HTTP/1.1 100 Continue\r\n\r\n") }

    func write(_ head: ResponseHead) {
        head.write(into: &server.output, date: server.dateText)
        isChunked = head.length == .chunked
    }

    func write(_ body: Span<UInt8>, keeping owner: AnyObject?) {
        guard !isClosed, !body.isEmpty else { return }
        if isChunked {
            server.output.append(raw: String(body.count, radix: 16))
            server.output.append("\r\n")
        }
        if let owner {
            client.write(server.output, then: body, keeping: owner)
            server.shrink(&server.output)
        } else {
            server.output.append(contentsOf: body)
        }
        if isChunked { server.output.append("\r\n") }
    }

    func finishBody() { if isChunked { server.output.append("0\r\n\r\n") } }

    /// An answer arrived outside a turn.
    func goOn() {
        finishExchange()
        flush()
        balance()
    }

    func beganWatch() {
        exchange?.close()
        exchange = nil
        let rest = reader.takeRest()
        guard !rest.isEmpty else { return }
        watch?.append(rest.span.bytes)
        process()
    }

    func receivedPong() { clock.receivedPong() }
}

extension HTTPConnection: CallTransport {
    func canTakeItem(of call: Call) -> Bool { canTakeItem() }
    func call(_ call: Call, answered answer: OutgoingBytes) { received(answer, of: call) }
    func call(_ call: Call, sent item: OutgoingBytes, of revision: UInt64?) {
        received(item, of: call, revision: revision)
    }
    func call(_ call: Call, failed error: RPCError) { received(error, of: call) }
    func callTookInput(_ call: Call) { if !isClosed { balance() } }
}
