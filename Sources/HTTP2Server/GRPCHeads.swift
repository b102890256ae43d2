// SPDX-License-Identifier: MIT
import ClusterProtocol
import Compression
import HTTP2
import JSON
import Transports
import TypedContract

/// The heads and trailers of gRPC's responses (gRPC over HTTP2, "Responses").
enum GRPCHeads {
    /// The head before messages.
    static func ok(_ compression: InflateStream.Format?) -> HeaderBlock {
        switch compression {
        case nil: plain
        case .zlib: zlib
        case .gzip: gzip
        }
    }

    private static let plain = head(nil)
    private static let zlib = head("deflate")
    private static let gzip = head("gzip")

    private static func head(_ encoding: String?) -> HeaderBlock {
        var head = HeaderBlock(status: 200)
        head.append("content-type", "application/grpc")
        head.append("grpc-accept-encoding", MessageInput.Encoding.names)
        if let encoding { head.append("grpc-encoding", encoding) }
        return head
    }

    /// The trailers of a call that succeeded.
    static let success: HeaderBlock = {
        var trailers = HeaderBlock()
        trailers.append("grpc-status", "0")
        return trailers
    }()

    /// The trailers of a call that failed.
    static func trailers(_ error: RPCError) -> HeaderBlock {
        var trailers = HeaderBlock()
        append(error, to: &trailers)
        return trailers
    }

    /// The whole response of a call that failed before its first message.
    static func failure(_ error: RPCError, status: Int = 200) -> HeaderBlock {
        var head = HeaderBlock(status: status)
        head.append("content-type", "application/grpc")
        head.append("grpc-accept-encoding", MessageInput.Encoding.names)
        append(error, to: &head)
        return head
    }

    private static func append(_ error: RPCError, to block: inout HeaderBlock) {
        block.append("grpc-status", "\(error.code.number)")
        block.append("grpc-message", percentEncoded(error.message, most: mostMessage))
        let details = ErrorDetails(error).status
        guard details.count <= mostDetails else { return }
        var text = ByteWriter()
        Base64.append(details.span, to: &text)
        block.append("grpc-status-details-bin", String(decoding: text.bytes, as: UTF8.self))
    }

    /// Clients reject trailers of more than 8 KiB, and with them the status.
    private static let mostMessage = 2 << 10
    private static let mostDetails = 3 << 10

    /// Printable ASCII stays, but for the percent sign; every other byte becomes `%XX`.
    static func percentEncoded(_ text: String, most: Int) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if encoded.count >= most { break }
            if byte >= 0x20, byte <= 0x7E, byte != UInt8(ascii: "%") {
                encoded.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
