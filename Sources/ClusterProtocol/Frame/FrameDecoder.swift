// SPDX-License-Identifier: MIT
import Compression

/// The sizes of messages.
public enum MessageLimits {
    /// Bytes of a frame's prefix: a flag, and a length in 32 bits.
    public static let prefixLength = 5
    /// The most bytes of a message to the server, counted as sent and as inflated.
    public static let maximumMessageBytes = 16 << 20
    /// The most bytes of an answer.
    public static let maximumAnswerBytes = 64 << 20
}

/// Takes length-prefixed frames out of a stream of bytes, however it is cut.
///
/// It knows no socket: bytes go in by `append`, whole messages come out by `next`. After an error the stream
/// cannot be trusted any more.
public struct FrameDecoder: Sendable {
    private var held: [UInt8] = []
    private var start = 0
    private let limit: Int

    /// - Parameter limit: the most bytes of a message, as sent and as inflated.
    public init(limit: Int = MessageLimits.maximumMessageBytes) { self.limit = limit }

    /// How many bytes wait, of frames that are not whole yet or not taken.
    public var waiting: Int { held.count - start }

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            held.removeFirst(start)
            start = 0
        }
        held.append(contentsOf: bytes)
    }

    /// Lends the next whole message, inflated where it came compressed; nil if none is whole yet.
    public mutating func next<Result>(
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(RPCError) -> Result? {
        var result: Result?
        _ = try lendNext { result = body($0) }
        return result
    }

    /// The same without a result of its own: false where none is whole yet.
    public mutating func lendNext(_ body: (UnsafeRawBufferPointer) -> Void) throws(RPCError) -> Bool {
        guard let (payload, isCompressed) = try nextPayload() else { return false }
        start = payload.upperBound
        guard isCompressed else {
            held.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[payload])) }
            return true
        }
        try HeldFrame(held[payload], isCompressed: true, limit: limit).withText(body)
        return true
    }

    /// Takes the next message as it was sent, if it is whole and takes long to read; nil for others, which
    /// `next` gives.
    ///
    /// - Parameters:
    ///   - bytes: how long a message is that counts as large.
    ///   - compressed: the same of one that has to be inflated, to a thousand times that at most.
    public mutating func takeLarge(from bytes: Int, compressed: Int) throws(RPCError) -> HeldFrame? {
        guard let (payload, isCompressed) = try nextPayload(),
            payload.count >= (isCompressed ? compressed : bytes)
        else { return nil }
        guard payload.upperBound == held.count else {
            start = payload.upperBound
            return HeldFrame(Array(held[payload])[...], isCompressed: isCompressed, limit: limit)
        }
        // Nothing has come after it: the bytes go as they are, uncopied.
        let frame = HeldFrame(held[payload], isCompressed: isCompressed, limit: limit)
        (held, start) = ([], 0)
        return frame
    }

    /// If the next whole frame's payload is.
    private mutating func nextPayload() throws(RPCError) -> (range: Range<Int>, isCompressed: Bool)? {
        guard waiting >= 1 else {
            trim()
            return nil
        }
        let flag = held[start]
        guard flag <= 1 else {
            throw RPCError(
                .invalidArgument,
                "The frame's flag is \(flag): 0 (as is) or 1 (compressed with zlib) was expected. The connection is closed."
            )
        }
        guard waiting >= MessageLimits.prefixLength else { return nil }
        let length =
            Int(held[start + 1]) << 24 | Int(held[start + 2]) << 16 | Int(held[start + 3]) << 8
            | Int(held[start + 4])
        guard length <= limit else {
            throw RPCError(
                .resourceExhausted,
                "The frame's length is \(length) bytes, more than the limit of \(limit). Send it in parts. The connection is closed."
            )
        }
        let end = start + MessageLimits.prefixLength + length
        guard held.count >= end else {
            held.reserveCapacity(end)
            return nil
        }
        return (start + MessageLimits.prefixLength..<end, flag == 1)
    }

    /// Gives a large buffer back once it is empty, so that idle connections cost little.
    private mutating func trim() {
        guard held.capacity > 4096 else { return }
        held = []
        start = 0
    }
}
