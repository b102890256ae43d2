// SPDX-License-Identifier: MIT
import ClusterProtocol
import JSON
import TypedContract

extension RPCError {
    /// Writes the error as the Connect protocol has it: its code in words, and details as messages in base64 without
    /// padding.
    package func writeConnect(into bytes: inout ByteWriter) {
        bytes.append("{\"code\":\"")
        bytes.append(raw: code.connectName)
        bytes.append("\",\"message\":")
        bytes.append(json: message)
        bytes.append(",\"details\":[")
        for (index, detail) in ErrorDetails(self).details.enumerated() {
            if index > 0 { bytes.append(",") }
            bytes.append("{\"type\":\"")
            bytes.append(raw: detail.type)
            bytes.append("\",\"value\":\"")
            var text = ByteWriter()
            Base64.append(detail.bytes.span, to: &text)
            bytes.append(contentsOf: text.bytes.prefix { $0 != UInt8(ascii: "=") })
            bytes.append("\"}")
        }
        bytes.append("]}")
    }
}

extension StatusCode {
    /// The name in the Connect protocol, such as `not_found`.
    package var connectName: String { self == .cancelled ? "canceled" : name.lowercased() }
}
