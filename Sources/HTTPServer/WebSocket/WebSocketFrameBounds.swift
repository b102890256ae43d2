// SPDX-License-Identifier: MIT

/// Tracks where a client's frames begin and end, and which message lengths they declare (RFC 6455, section 5.2).
/// It checks nothing but sizes. O(heads), not O(bytes).
struct WebSocketFrameBounds: Sendable {
    /// The maximum size of a message in bytes, over all its fragments.
    let limit: Int
    /// How many bytes of the current head have arrived.
    private var headBytes = 0
    private var isFinal = false
    private var isControl = false
    /// Bytes of the length after the first two bytes of the head: 0, 2 or 8.
    private var lengthBytes = 0
    private var maskBytes = 0
    private var length: UInt64 = 0
    /// Bytes of the payload that have not arrived.
    private var payloadLeft: UInt64 = 0
    /// The bytes that the fragments so far declare, while more fragments follow.
    private var messageBytes: UInt64 = 0
    private var isFragmented = false

    init(limit: Int) { self.limit = limit }

    /// Whether no frame has begun, and no further fragment is expected.
    var isBetweenMessages: Bool { headBytes == 0 && payloadLeft == 0 && !isFragmented }

    /// Processes further bytes.
    ///
    /// - Returns: how many of them may be passed on: all, unless a frame declares a message over the limit.
    mutating func follow(_ bytes: Span<UInt8>) -> Int {
        var position = 0
        while position < bytes.count {
            if payloadLeft > 0 {
                let count = min(payloadLeft, UInt64(bytes.count - position))
                payloadLeft -= count
                position += Int(count)
            } else {
                guard take(bytes[position]) else { return position }
                position += 1
            }
        }
        return position
    }

    /// Reads a byte of a head; returns false if the length is over the limit.
    private mutating func take(_ byte: UInt8) -> Bool {
        switch headBytes {
        case 0:
            isFinal = byte & 0x80 != 0
            isControl = byte & 0x08 != 0
        case 1:
            let code = byte & 0x7F
            lengthBytes = code == 127 ? 8 : code == 126 ? 2 : 0
            maskBytes = byte & 0x80 != 0 ? 4 : 0
            length = lengthBytes == 0 ? UInt64(code) : 0
        case ..<(2 + lengthBytes): length = length << 8 | UInt64(byte)
        default: break
        }
        headBytes += 1
        guard headBytes >= 2 else { return true }
        // The library limits control frames itself.
        if headBytes == 2 + lengthBytes, !isControl, exceedsLimit { return false }
        if headBytes == 2 + lengthBytes + maskBytes { endHead() }
        return true
    }

    private var exceedsLimit: Bool {
        let (total, isOver) = messageBytes.addingReportingOverflow(length)
        return isOver || total > UInt64(limit)
    }

    private mutating func endHead() {
        headBytes = 0
        payloadLeft = length
        guard !isControl else { return }
        isFragmented = !isFinal
        messageBytes = isFinal ? 0 : messageBytes + length
    }
}
