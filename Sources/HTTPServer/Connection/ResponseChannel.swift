// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import RPC

/// What carries a request and its response: an HTTP/1.1 connection, one exchange after another, or a stream of HTTP/2.
/// Used only on the loop's thread.
package protocol ResponseChannel: AnyObject {
    /// What answers requests on this loop.
    var server: HTTPServer { get }
    var caller: Caller! { get }
    /// The client's address without a port; nil over a Unix socket.
    var address: String? { get }
    /// The request in progress.
    var exchange: Exchange? { get set }
    /// The watch that the exchange has become.
    var watch: WatchStream? { get set }
    /// Whether nothing more can be written.
    var isClosed: Bool { get }
    /// Whether nothing more is answered: everything ends once it is written.
    var isEnding: Bool { get }
    /// Bytes that wait until the client reads.
    var queuedBytes: Int { get }
    /// Whether a WebSocket may follow on a request.
    var takesWebSockets: Bool { get }

    /// The id of the exchange's next call.
    func makeCallID() -> Int64
    /// Sets the most bytes that the request's body may have.
    func limitBody(to most: Int)
    /// Tells the client to send the body.
    func sendContinue()
    /// Writes the head of the response.
    func write(_ head: ResponseHead)
    /// Writes a part of the response's body.
    ///
    /// - Parameter owner: keeps the bytes, which must not change; nil if they must be copied.
    func write(_ body: Span<UInt8>, keeping owner: AnyObject?)
    /// The response's body is complete.
    func finishBody()
    /// Nothing more is read, and everything ends once it is written.
    func end()
    /// Cuts the response off.
    func close()
    /// Writes what waits.
    func flush()
    /// Something happened outside a turn: writes what waits, and continues.
    func goOn()
    /// The exchange has become a watch, which is set already.
    func beganWatch()
    /// The client has answered a ping.
    func receivedPong()
}

extension ResponseChannel {
    var isOverUnix: Bool { address == nil }
    /// Whether a request is still to be answered.
    var isServing: Bool { !isClosed && !isEnding && exchange?.isAnswered == false }

    package func canTakeItem() -> Bool {
        (watch != nil || exchange?.watch != nil || exchange?.isStreamed == true) && !isEnding && queuedBytes == 0
    }

    /// The exchange's call has its answer.
    package func received(_ answer: OutgoingBytes, of call: Call) {
        guard !isClosed else { return }
        if let watch {
            watch.finish(answer)
            return flush()
        }
        guard exchange?.call === call else { return }
        exchange?.call = nil
        answer.writer.withBytes { exchange?.finish($0, answer) }
        goOn()
    }

    /// The exchange's call has made an item.
    package func received(_ item: OutgoingBytes, of call: Call, revision: UInt64?) {
        guard !isClosed, !isEnding else { return }
        if let exchange, exchange.isStreamed, exchange.call === call {
            exchange.send(item)
            return goOn()
        }
        if watch == nil { exchange?.beginWatch(call) }
        watch?.send(item, of: revision)
        goOn()
    }

    /// The exchange's call has failed.
    package func received(_ error: RPCError, of call: Call) {
        guard !isClosed else { return }
        if let watch {
            watch.fail(error)
            return goOn()
        }
        guard exchange?.call === call else { return }
        exchange?.call = nil
        exchange?.fail(error)
        goOn()
    }
}
