// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf

/// What a client's message is in the JSON contract.
package enum ClientPart: Sendable, Equatable {
    /// The params of a call.
    ///
    /// - text: the params' JSON text, of methods that keep it. Lists of features are only there, and empty in `params`.
    /// - structProperties: whether the answer has properties as google.protobuf.Struct.
    case open(params: JSONObject, text: [UInt8], structProperties: Bool)
    /// The JSON text of an item.
    case item([UInt8])
    /// The text of features: an array of them, or as the client has sent it.
    case geoJSON([UInt8])
}

/// Reads a client's messages.
struct RequestReader {
    let parser: JSONParser
    /// If the params have one of these, their text is needed.
    let textParams: [ParamDeclaration]

    private func text(of params: ParamsReader) -> [UInt8] {
        textParams.contains { params.object[$0.name] != nil } ? params.text : []
    }

    /// A call's only message, or the message that opens a stream.
    func open(_ plan: MessagePlan, in bytes: Span<UInt8>, _ range: Range<Int>) throws(RPCError) -> ClientPart {
        var params = ParamsReader(parser: parser)
        do { try params.read(plan, in: bytes, range, depth: 0) } catch { throw error.error(in: "params") }
        return .open(
            params: params.object, text: text(of: params), structProperties: params.structProperties)
    }

    /// A message of a stream: one of the fields of its `oneof`.
    func message(_ plan: MessagePlan, in bytes: Span<UInt8>) throws(RPCError) -> ClientPart {
        let fields: MessageFields
        do { fields = try MessageFields(of: plan, in: bytes, 0..<bytes.count) } catch { throw error.error(in: "item") }
        guard let index = plan.fields.indices.first(where: { fields.has($0) }) else {
            let names = plan.fields.map(\.name).joined(separator: ", ")
            throw RPCError(.invalidArgument, "The message is empty: it must have one of \(names).")
        }
        let field = plan.fields[index]
        guard field.kind == .message else {
            guard case .bytes(let range) = fields.last(index) else { return .geoJSON([]) }
            return .geoJSON(Array(copying: bytes.extracting(range)))
        }
        let isOpening = field.name == "open"
        do {
            var params = ParamsReader(parser: parser)
            try fields.withMessage(index, in: bytes) { (bytes, range) throws(FieldFault) in
                try params.read(field.plan, in: bytes, range, depth: 1)
            }
            if let features = params.features { return .geoJSON(features) }
            guard isOpening else { return .item(params.text) }
            return .open(
                params: params.object, text: text(of: params),
                structProperties: params.structProperties)
        } catch {
            throw error.error(in: isOpening ? "params" : "item")
        }
    }
}
