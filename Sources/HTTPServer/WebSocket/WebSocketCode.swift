// SPDX-License-Identifier: MIT
import ClusterProtocol

/// Why a WebSocket is closed (RFC 6455, section 7.4; codes from 4000 belong to this interface).
struct WebSocketCode: Sendable, Equatable {
    let number: UInt16

    static let normal = WebSocketCode(number: 1000)
    static let unsupportedData = WebSocketCode(number: 1003)
    static let messageTooBig = WebSocketCode(number: 1009)

    init(number: UInt16) { self.number = number }

    /// The code that closes a watch that failed with an error.
    init(_ error: RPCError) {
        switch error.code {
        case .invalidArgument: number = 1008
        case .unavailable: number = 1001
        case .resourceExhausted: number = 1013
        default: number = 4000 + UInt16(error.code.number)
        }
    }
}
