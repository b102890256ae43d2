// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf

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
