// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import HTTP2
import HTTPServer
import Transports

/// What a gRPC request's head says (gRPC over HTTP2, "Requests").
struct GRPCRequest {
    /// The method's full name, such as `clusterd.v1.ClusterService/GetClusters`.
    let method: String
    /// How long the client waits, in milliseconds; nil: no limit.
    let timeout: Int64?
    /// What the client's compressed messages are compressed with.
    let encoding: MessageInput.Encoding
    /// What answers are compressed with; nil: nothing.
    let answers: InflateStream.Format?

    init(_ head: HeaderBlock) throws(RPCError) {
        method = String(decoding: (head[":path"] ?? []).dropFirst(), as: UTF8.self)
        let name = head.text("grpc-encoding") ?? "identity"
        encoding = MessageInput.Encoding(name)
        // On one machine compression takes longer than it saves, so an answer is compressed only for a client that
        // does so itself.
        answers = encoding.format == nil ? nil : Self.accepts(name, head) ? encoding.format : nil
        timeout = try head.text("grpc-timeout").map { text throws(RPCError) in try Self.milliseconds(text) }
    }

    private static func accepts(_ name: String, _ head: HeaderBlock) -> Bool {
        (head.text("grpc-accept-encoding") ?? "").split(separator: ",").contains { $0.trimmingSpaces == name }
    }

    /// Reads a timeout: at most eight digits and a unit.
    static func milliseconds(_ text: String) throws(RPCError) -> Int64 {
        let digits = text.utf8.dropLast()
        let nanoseconds: Int64? =
            switch text.utf8.last {
            case UInt8(ascii: "H"): 3_600_000_000_000
            case UInt8(ascii: "M"): 60_000_000_000
            case UInt8(ascii: "S"): 1_000_000_000
            case UInt8(ascii: "m"): 1_000_000
            case UInt8(ascii: "u"): 1_000
            case UInt8(ascii: "n"): 1
            default: nil
            }
        guard let nanoseconds, (1...8).contains(digits.count), digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let count = Int64(String(decoding: digits, as: UTF8.self))
        else {
            throw RPCError(
                .invalidArgument,
                "grpc-timeout is \(text): at most eight digits and one of the units H, M, S, m, u and n were expected.")
        }
        // Rounded up: a client that waits for a microsecond waits.
        let unit = 1_000_000
        return nanoseconds >= unit
            ? count * (nanoseconds / Int64(unit)) : (count * nanoseconds + Int64(unit) - 1) / Int64(unit)
    }
}
