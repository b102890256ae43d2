// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import Protobuf

/// What an error says to programs, as messages of google.rpc.
package struct ErrorDetails {
    /// A message: `google.rpc.ErrorInfo` or `google.rpc.BadRequest`.
    package struct Detail: Equatable {
        /// The full name of its type.
        package let type: String
        package let bytes: [UInt8]
    }

    package let details: [Detail]
    private let error: RPCError

    package init(_ error: RPCError) {
        self.error = error
        let violations = Self.violations(error)
        details = [Self.information(error)] + (violations.isEmpty ? [] : [Self.badRequest(violations)])
    }

    /// The bytes of a google.rpc.Status, for `grpc-status-details-bin`.
    ///
    /// Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/status.proto
    package var status: [UInt8] {
        var bytes = ByteWriter()
        bytes.append(field: 1, varint: UInt64(error.code.number))
        bytes.append(field: 2, text: error.message)
        for detail in details {
            let start = bytes.beginField(3)
            bytes.append(field: 1, text: "type.googleapis.com/" + detail.type)
            bytes.append(field: 2, bytes: detail.bytes.span)
            bytes.endField(start)
        }
        return bytes.bytes
    }

    // Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto

    private static func information(_ error: RPCError) -> Detail {
        var bytes = ByteWriter()
        bytes.append(field: 1, text: error.code.name)
        bytes.append(field: 2, text: MethodDeclaration.package)
        for (name, value) in error.details?.members ?? [] {
            let text: String
            switch value {
            case .string(let string): text = string
            case .number(let number): text = String(javaScript: number)
            default: continue
            }
            let start = bytes.beginField(3)
            bytes.append(field: 1, text: name)
            bytes.append(field: 2, text: text)
            bytes.endField(start)
        }
        return Detail(type: "google.rpc.ErrorInfo", bytes: bytes.bytes)
    }

    private static func badRequest(_ violations: [(field: String, description: String)]) -> Detail {
        var bytes = ByteWriter()
        for violation in violations {
            let start = bytes.beginField(1)
            bytes.append(field: 1, text: violation.field)
            bytes.append(field: 2, text: violation.description)
            bytes.endField(start)
        }
        return Detail(type: "google.rpc.BadRequest", bytes: bytes.bytes)
    }

    /// The params that are not as they have to be. Errors of an expression name the position in it.
    private static func violations(_ error: RPCError) -> [(field: String, description: String)] {
        var param: String?
        if case .string(let path)? = error.details?["param"] { param = path }
        guard case .array(let errors)? = error.details?["errors"] else {
            return param.map { [($0, error.message)] } ?? []
        }
        return errors.map { item in
            guard case .object(let item) = item else { return (param ?? "", error.message) }
            var (key, message) = ("", error.message)
            if case .string(let text)? = item["key"] { key = text }
            if case .string(let text)? = item["message"] { message = text }
            // An expression that is evaluated is the param itself.
            return ((param ?? "params.\(ParamDeclaration.expression.name)") + key, message)
        }
    }
}
