// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf

/// Answers questions of gRPC's server reflection, of both versions: their messages are the same.
package enum Reflection {
    /// Answers a ServerReflectionRequest with the bytes of a ServerReflectionResponse. That something does not exist is
    /// an answer too.
    package static func answer(_ request: Span<UInt8>) throws(RPCError) -> [UInt8] {
        guard let plan = Contract.plan("grpc.reflection.v1.ServerReflectionRequest") else { return [] }
        var bytes = ByteWriter()
        do throws(FieldFault) {
            let fields = try MessageFields(of: plan, in: request, 0..<request.count)
            if fields.has(0), case .bytes(let host) = fields.last(0) {
                bytes.append(field: 1, text: try FieldText.string(host, in: request))
            }
            let original = bytes.beginField(2)
            bytes.append(contentsOf: request)
            bytes.endField(original)
            guard let index = plan.fields.indices.dropFirst().first(where: { fields.has($0) }) else {
                throw FieldFault("asks for nothing.")
            }
            var name = ""
            if plan.fields[index].kind == .string, case .bytes(let range) = fields.last(index) {
                name = try FieldText.string(range, in: request)
            }
            write(plan.fields[index].name, name, into: &bytes)
        } catch {
            throw error.error(in: "message")
        }
        return bytes.bytes
    }

    private static func write(_ question: String, _ name: String, into bytes: inout ByteWriter) {
        let files = Contract.descriptors.files
        switch question {
        case "list_services":
            let start = bytes.beginField(6)
            for service in Contract.descriptors.services {
                let entry = bytes.beginField(1)
                bytes.append(field: 1, text: service.name)
                bytes.endField(entry)
            }
            bytes.endField(start)
        case "file_by_filename":
            write(files.first { $0.name == name }, "There is no file \(name).", into: &bytes)
        case "file_containing_symbol":
            write(files.first { $0.symbols.contains(name) }, "There is no symbol \(name).", into: &bytes)
        default:
            // proto3 has no extensions.
            write(nil, "There are no extensions.", into: &bytes)
        }
    }

    /// Writes a file and those that it imports, or why there is none.
    private static func write(_ file: DescriptorSet.File?, _ problem: String, into bytes: inout ByteWriter) {
        guard let file else {
            let start = bytes.beginField(7)
            bytes.append(field: 1, varint: UInt64(StatusCode.notFound.number))
            bytes.append(field: 2, text: problem)
            bytes.endField(start)
            return
        }
        var names = [file.name]
        var next = 0
        let start = bytes.beginField(4)
        while next < names.count {
            if let found = Contract.descriptors.files.first(where: { $0.name == names[next] }) {
                bytes.append(field: 1, bytes: found.bytes.span)
                for name in found.dependencies where !names.contains(name) { names.append(name) }
            }
            next += 1
        }
        bytes.endField(start)
    }
}
