// SPDX-License-Identifier: MIT
import ClusterProtocol
import HTTP2
import HTTPServer
import RPC
import Transports
import TypedContract

/// Decides who answers a stream, once its head is complete.
enum StreamStart {
    static func begin(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        let head = stream.head
        let type = head["content-type"] ?? []
        if stream.isHeadTooLarge {
            let most = connection.server.rules.settings.limits.maxHeadBytes
            let error = RPCError(
                .resourceExhausted, "The request's fields are larger than the limit of \(most) bytes.")
            return stream.respond(only: GRPCHeads.failure(error, status: 431))
        }
        guard type.starts(with: grpcType) else {
            return beginResource(stream, on: connection)
        }
        // Nearly all clients send the name alone, which need not be parsed.
        if type.count > grpcType.count, !isKnown(type) {
            let error = RPCError(
                .invalidArgument,
                "The content-type \(String(decoding: type, as: UTF8.self)) is not supported: use application/grpc.")
            return stream.respond(only: GRPCHeads.failure(error, status: 415))
        }
        guard connection.isOverUnix || connection.server.rules.admits(authority: authority(head)) else {
            let error = RPCError(
                .permissionDenied,
                "The host \(authority(head) ?? "") is not served here. The administrator of clusterd can add it to http.hosts."
            )
            return stream.respond(only: GRPCHeads.failure(error, status: 421))
        }
        guard head[":method"].map({ $0.elementsEqual("POST".utf8) }) == true else {
            return stream.respond(
                only: GRPCHeads.failure(RPCError(.unimplemented, "A gRPC call is a POST."), status: 405))
        }
        beginCall(stream, on: connection)
    }

    private static func authority(_ head: HeaderBlock) -> String? { head.text(":authority") ?? head.text("host") }

    private static let grpcType = Array("application/grpc".utf8)

    private static func isKnown(_ type: ArraySlice<UInt8>) -> Bool {
        ["application/grpc", "application/grpc+proto"].contains(
            Negotiation.mediaType(String(decoding: type, as: UTF8.self)))
    }

    private static func beginResource(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        let resource = ResourceStream(stream, of: connection)
        stream.handler = resource
        do throws(RequestFailure) {
            resource.begin(
                try RequestHead.http2(
                    stream.head.fields, hasBody: !stream.inputHasEnded,
                    mostOfURL: connection.server.rules.settings.limits.maxURLBytes))
        } catch { resource.refuse(error) }
    }

    private static func beginCall(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        do throws(RPCError) {
            let request = try GRPCRequest(stream.head)
            let identity = try identity(of: request.method, stream.head, connection)
            let exchange = GRPCExchange(request, by: identity, on: stream, of: connection)
            exchange.begin(try service(request.method, exchange))
            stream.handler = exchange
        } catch { stream.respond(only: GRPCHeads.failure(error)) }
    }

    /// Who calls. A health check needs no token, but without one it sees no sources.
    private static func identity(
        of method: String, _ head: HeaderBlock, _ connection: HTTP2Connection
    ) throws(RPCError) -> Identity {
        let client = connection.caller.identity
        if connection.server.rules.tokens == nil { return client }
        do throws(RPCError) {
            return try connection.server.rules.identity(authorization: head.joined("authorization"), client)
        } catch {
            guard method == HealthCheck.checkMethod || method == HealthCheck.watchMethod else { throw error }
            return Identity(client.peer, right: .none)
        }
    }

    private static func service(_ name: String, _ exchange: GRPCExchange) throws(RPCError) -> any GRPCService {
        if let method = TypedMethod.named(name) { return TypedCall(method, for: exchange) }
        if name == HealthCheck.checkMethod { return HealthCheck(isWatch: false, of: exchange) }
        if name == HealthCheck.watchMethod { return HealthCheck(isWatch: true, of: exchange) }
        if ReflectionCall.methods.contains(name) {
            guard exchange.identity.right >= .query else {
                throw RPCError(.permissionDenied, "Reflection needs the right \"query\".")
            }
            return ReflectionCall(of: exchange)
        }
        throw RPCError(.unimplemented, "There is no method \"\(name)\". GetServerInfo lists the methods.")
    }
}
