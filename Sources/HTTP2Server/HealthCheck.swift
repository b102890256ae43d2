// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON
import Protobuf
import RPC
import Transports
import TypedContract

/// What health checks ask about. Called on the loop's thread, so it must be quick.
package protocol HealthStatus: Sendable {
    /// Whether a source answers queries; nil if there is none of that name.
    func serves(source: String) -> Bool?
}

/// The status of a server without sources.
package struct NoSources: HealthStatus {
    package init() {}
    package func serves(source: String) -> Bool? { nil }
}

/// `grpc.health.v1.Health`: whether the daemon, one of its services or a source serves. It needs no right, but a source
/// is known only to those who may query. Belongs to the loop's thread.
final class HealthCheck: GRPCService {
    private unowned let exchange: GRPCExchange
    private let isWatch: Bool
    private var service: String?
    /// The status that was sent last.
    private var reported: Status?
    private var hasEnded = false

    /// `ServingStatus` of the standard's health.proto.
    private enum Status: UInt64 {
        case serving = 1
        case notServing = 2
        case serviceUnknown = 3
    }

    static let checkMethod = "grpc.health.v1.Health/Check"
    static let watchMethod = "grpc.health.v1.Health/Watch"

    init(isWatch: Bool, of exchange: GRPCExchange) { (self.isWatch, self.exchange) = (isWatch, exchange) }

    var reader: Reader {
        { _ throws(RPCError) in throw RPCError(.resourceExhausted, "A health check has the name of a service.") }
    }

    var waitingBytes: Int { 0 }

    func received(_ message: Span<UInt8>, _ parser: JSONParser) throws(RPCError) {
        guard service == nil else { throw RPCError(.invalidArgument, "The call takes one message; a second one came.") }
        guard message.count <= Self.longestRequest else {
            service = Self.noService
            return
        }
        do throws(WireError) { service = try Self.name(in: Array(copying: message)) } catch {
            throw RPCError(.invalidArgument, "The message is no HealthCheckRequest: \(error).")
        }
    }

    /// Sources' names are shorter. A longer name is not kept, since a watch may last for days.
    private static let longestRequest = 256
    private static let noService = "-"

    /// The field `service` of a HealthCheckRequest.
    private static func name(in message: [UInt8]) throws(WireError) -> String {
        var name = ""
        var reader = MessageReader(message[...])
        while let field = try reader.next() {
            if case (1, .bytes(let text)) = field { name = String(decoding: text, as: UTF8.self) }
        }
        return name
    }

    func received(_ part: ClientPart, size: Int) {}

    func inputEnded() throws(RPCError) {
        guard service != nil else { throw RPCError(.internal, "The call has no message: its request was expected.") }
        hasEnded = true
        guard !isWatch else { return report() }
        guard let status = status else {
            throw RPCError(.notFound, "There is no service \"\(service ?? "")\", or you may not see it.")
        }
        send(status)
        exchange.finish()
    }

    /// Nil if there is no such service.
    private var status: Status? {
        let server = exchange.connection.server
        let name = service ?? ""
        let daemon: Status = server.isDraining ? .notServing : .serving
        if name.isEmpty || Self.services.contains(name) { return daemon }
        let source = String(name.dropFirst(Self.sources.count))
        // A watch may last longer than what its caller may see.
        guard name.hasPrefix(Self.sources), let caller = try? exchange.currentIdentity(), caller.right >= .query,
            server.engine.access.access(of: caller)?.sees(source) != false,
            let serves = server.health.serves(source: source)
        else { return nil }
        return serves ? daemon : .notServing
    }

    private static let sources = "sources/"
    private static let services = MethodDeclaration.Service.allCases.map {
        "\(MethodDeclaration.package).\($0.rawValue)"
    }

    private func send(_ status: Status) {
        let bytes = exchange.connection.server.borrow()
        let frame = FrameEncoder(beginningIn: &bytes.writer)
        bytes.writer.append(field: 1, varint: status.rawValue)
        frame.end(in: &bytes.writer)
        exchange.send(bytes)
    }

    /// Sends the status to the client of a watch if it has changed.
    private func report() {
        guard isWatch, hasEnded else { return }
        let status = status ?? .serviceUnknown
        guard status != reported, exchange.stream.waitingBytes == 0 else { return }
        reported = status
        send(status)
    }

    func wasWritten() { report() }
    func check() { report() }

    func drain() {
        report()
        guard isWatch else { return }
        exchange.fail(RPCError(.unavailable, "The server is shutting down. Try again soon."))
    }

    func closed() {}
}
