// SPDX-License-Identifier: MIT
import ClusterProtocol
import EventLoop
import JSON
import RPC

/// A client that another transport has accepted, with its first bytes. Its connection and its user are counted
/// already. Belongs to the loop's thread.
package struct RecognizedClient {
    package let socket: Connection
    package let peer: Peer
    package let right: AccessRight
    package let share: UserShare
    /// The client's address without a port; nil over a Unix socket.
    package let address: String?
    /// What it has sent so far.
    package let bytes: [UInt8]
    /// When its first byte arrived, by the loop's clock in milliseconds.
    package let began: UInt64

    package init(
        _ connection: some ServedConnection, address: String?, bytes: [UInt8], began: UInt64
    ) {
        socket = connection.socket
        peer = connection.caller.peer
        right = connection.caller.right
        share = connection.caller.share
        self.address = address
        self.bytes = bytes
        self.began = began
    }
}

/// What a connection speaks, by its first bytes.
package enum Speech: Equatable {
    case frames
    case http1
    /// HTTP/2, if the rest of its preface follows.
    case http2
    /// HTTP of a version that the bytes do not show yet.
    case http

    /// A frame begins with 0 or 1, HTTP/1.1 with a letter, HTTP/2 with "PRI ". All else is left to the frames' decoder,
    /// which reports the error.
    ///
    /// - Parameter bytes: the first bytes, at least one.
    package init(_ bytes: Span<UInt8>) {
        let letter = bytes[0] & 0xDF
        guard letter >= UInt8(ascii: "A"), letter <= UInt8(ascii: "Z") else {
            self = .frames
            return
        }
        let known = min(bytes.count, Self.preface.count)
        let agrees = (0..<known).allSatisfy { bytes[$0] == Self.preface[$0] }
        self = agrees ? known < Self.preface.count ? .http : .http2 : .http1
    }

    private static let preface = Array("PRI ".utf8)
}
