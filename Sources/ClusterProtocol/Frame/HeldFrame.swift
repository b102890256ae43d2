// SPDX-License-Identifier: MIT
import Compression

/// A frame that was taken off its stream to be read elsewhere.
public struct HeldFrame: Sendable, Equatable {
    private let payload: ArraySlice<UInt8>
    private let isCompressed: Bool
    private let limit: Int

    init(_ payload: ArraySlice<UInt8>, isCompressed: Bool, limit: Int) {
        self.payload = payload
        self.isCompressed = isCompressed
        self.limit = limit
    }

    /// How many bytes it holds.
    public var count: Int { payload.count }

    /// The most bytes that the message can have once it is inflated: zlib makes a thousandth at best.
    public var mostBytes: Int { isCompressed ? min(limit, 1032 * count) : count }

    /// Lends the message, inflated where it came compressed. After an error the stream that the frame came from
    /// cannot be trusted any more.
    ///
    /// - Complexity: O(length), some hundred MB/s where it is to be inflated.
    public func withText<Result>(
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(RPCError) -> Result {
        guard isCompressed else { return payload.withUnsafeBytes(body) }
        do throws(CompressionError) { return try inflated().withUnsafeBytes(body) } catch {
            if case .limitExceeded = error {
                throw RPCError(
                    .resourceExhausted,
                    "The message inflates to more than the limit of \(limit) bytes. Send it in parts. The connection is closed."
                )
            }
            throw RPCError(
                .invalidArgument,
                "The compressed frame does not inflate as zlib (RFC 1950). The connection is closed.")
        }
    }

    private func inflated() throws(CompressionError) -> [UInt8] {
        try payload.withUnsafeBufferPointer { (bytes) throws(CompressionError) in
            try Zlib.inflate(UnsafeRawBufferPointer(bytes), limit: limit)
        }
    }
}
