// SPDX-License-Identifier: MIT
import Compression

/// A frame that was taken from its stream to be read elsewhere.
public struct HeldFrame: Sendable, Equatable {
    private let payload: ArraySlice<UInt8>
    private let isCompressed: Bool
    private let limit: Int

    init(_ payload: ArraySlice<UInt8>, isCompressed: Bool, limit: Int) {
        self.payload = payload
        self.isCompressed = isCompressed
        self.limit = limit
    }

    /// The size of the payload in bytes.
    public var count: Int { payload.count }

    /// The maximum size in bytes of the inflated message: zlib compresses to about a thousandth at best.
    public var mostBytes: Int { isCompressed ? min(limit, 1032 * count) : count }

    /// Passes the message to `body`, inflated if it was compressed. After an error the stream from which the
    /// frame came can no longer be trusted.
    ///
    /// - Complexity: O(length); inflating runs at a few hundred MB/s.
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
