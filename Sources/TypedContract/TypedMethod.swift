// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf

/// A method of the typed contract: its messages, each to and from the JSON contract. Safe from any thread.
package final class TypedMethod: Sendable {
    /// Such as `clusterd.v1.ClusterService/GetClusters`.
    package let fullName: String
    /// Whether a call changes nothing, so that HTTP may cache and repeat it.
    package let hasNoSideEffects: Bool
    package let clientStreams: Bool
    package let serverStreams: Bool
    let request: MessagePlan
    let response: MessagePlan
    private let textParams: [ParamDeclaration]

    private init?(_ method: DescriptorSet.Method, of service: DescriptorSet.Service) {
        guard let request = Contract.plan(method.input), let response = Contract.plan(method.output) else {
            return nil
        }
        let fullName = "\(service.name)/\(method.name)"
        (self.request, self.response, self.fullName) = (request, response, fullName)
        hasNoSideEffects = method.hasNoSideEffects
        (clientStreams, serverStreams) = (method.takesStream, method.returnsStream)
        textParams = MethodDeclaration.all.first { $0.fullName == fullName }?.textParams ?? []
    }

    /// All methods, in the order of the .proto file, also those that the daemon does not serve.
    package static let all: [TypedMethod] = Contract.descriptors.services
        .filter { $0.name.hasPrefix(MethodDeclaration.package + ".") }
        .flatMap { service in service.methods.compactMap { TypedMethod($0, of: service) } }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.fullName, $0) })

    /// The method with a full name; nil if there is none.
    package static func named(_ name: String) -> TypedMethod? { byName[name] }

    /// Reads a message of the client. Any bytes may come: what is not as the contract says is `INVALID_ARGUMENT`.
    ///
    /// - Parameter parser: what reads the JSON text in a message. Calls of one thread may share it.
    package func read(
        _ message: Span<UInt8>, parser: JSONParser = JSONParser()
    ) throws(RPCError) -> ClientPart {
        let reader = RequestReader(parser: parser, textParams: textParams)
        return clientStreams
            ? try reader.message(request, in: message) : try reader.open(request, in: message, 0..<message.count)
    }

    /// Whether a stream of the daemon ends with a message. Otherwise it ends with nothing but its status.
    package var endsWithMessage: Bool { !serverStreams || response.field(named: Self.done) != nil }

    private static let done = "done"

    /// Writes a JSON answer as a message, without a prefix. Writes nothing for the end of a stream that ends without
    /// one.
    ///
    /// - Parameters:
    ///   - json: the result, an item or the end, as the method has written it.
    ///   - structProperties: whether properties become google.protobuf.Struct.
    ///   - parser: as for `read`.
    package func write(
        _ json: Span<UInt8>, _ part: AnswerPart, structProperties: Bool, into bytes: inout ByteWriter,
        parser: JSONParser = JSONParser()
    ) throws(RPCError) {
        guard part != .end || endsWithMessage else { return }
        let writer = AnswerWriter(structProperties: structProperties)
        let start = bytes.count
        do {
            try parser.withTape(of: json, maximumDepth: ServerMessage.maximumDepth, allowsLoneSurrogates: true) {
                tape in
                guard serverStreams, let field = field(of: part) else {
                    return writer.write(response, tape.root, into: &bytes)
                }
                let message = bytes.beginField(field.number)
                writer.write(field.plan, tape.root, into: &bytes)
                bytes.endField(message)
            }
        } catch {
            bytes.truncate(to: start)
            throw RPCError(.internal, "The answer is not JSON, so it cannot be sent as a message.")
        }
    }

    /// The field of a stream's message that a part of the answer is; nil if the message is the part itself.
    private func field(of part: AnswerPart) -> FieldPlan? {
        guard let done = response.field(named: Self.done) else { return nil }
        return part == .end ? done : response.fields.first { $0.name != Self.done }
    }
}

/// Protobuf's JSON mapping, which generated Connect clients send and read.
/// Source: https://protobuf.dev/programming-guides/json/
extension TypedMethod {
    /// A request from its JSON. A member that the message does not have is `INVALID_ARGUMENT`, as an unknown field is.
    package func protobuf(
        fromJSON json: Span<UInt8>, parser: JSONParser = JSONParser()
    ) throws(RPCError) -> [UInt8] {
        do {
            return try parser.withTape(of: json) { (tape) throws(FieldFault) in
                var bytes = ByteWriter()
                try MappedReader().read(request, tape.root, into: &bytes)
                return bytes.bytes
            }
        } catch {
            switch error {
            case .body(let fault): throw fault.error(in: "message")
            case .json(let error):
                throw RPCError(.invalidArgument, "The message is not JSON: \(error.message)")
            }
        }
    }

    /// Writes an answer's JSON.
    package func json(fromProtobuf message: Span<UInt8>, into bytes: inout ByteWriter) throws(RPCError) {
        do {
            try MappedWriter.write(response, in: message, 0..<message.count, depth: 0, into: &bytes)
        } catch {
            throw RPCError(.internal, error.error(in: "answer").message)
        }
    }
}
