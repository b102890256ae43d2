// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import RPC
import Transports
import TypedContract

/// `grpc.reflection.v1.ServerReflection`, and the same as `v1alpha`: tells tools which services there are, and the
/// files that declare them. Belongs to the loop's thread.
final class ReflectionCall: GRPCService {
    private unowned let exchange: GRPCExchange
    private var hasEnded = false

    static let methods = ["v1", "v1alpha"].map { "grpc.reflection.\($0).ServerReflection/ServerReflectionInfo" }

    init(of exchange: GRPCExchange) { self.exchange = exchange }

    var reader: Reader {
        { _ throws(RPCError) in throw RPCError(.resourceExhausted, "A reflection request has a name.") }
    }

    /// No answer is made while earlier ones are unread.
    var isReady: Bool { waitingBytes <= Self.mostUnread }
    var waitingBytes: Int { exchange.stream.waitingBytes }
    private static let mostUnread = 64 << 10

    func received(_ part: ClientPart, size: Int) {}

    func received(_ message: Span<UInt8>, _ parser: JSONParser) throws(RPCError) {
        let answer = try Reflection.answer(message)
        let bytes = exchange.borrow()
        let frame = FrameEncoder(beginningIn: &bytes.writer)
        bytes.writer.append(contentsOf: answer)
        frame.end(in: &bytes.writer)
        exchange.send(bytes)
    }

    func inputEnded() throws(RPCError) { exchange.finish() }

    func wasWritten() {}
    func drain() { exchange.fail(RPCError(.unavailable, "The server is shutting down. Try again soon.")) }
    func closed() {}
}
