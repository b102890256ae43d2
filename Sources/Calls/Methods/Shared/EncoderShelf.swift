// SPDX-License-Identifier: MIT
import Synchronization
import VectorTile

/// Encoders that have written a tile and may write another: their tables are a tenth of a tile's work to make.
/// Safe from any thread.
final class EncoderShelf: Sendable {
    static let shared = EncoderShelf()

    private let idle = Mutex<[Holder]>([])
    /// As many as are in use at once on most machines.
    private static let capacity = 8
    /// Encoders keep the memory of the largest tile that they wrote; those of larger ones are let go of.
    private static let largestTile = 64 << 10

    /// Whoever has taken it off the shelf is the only one to use it; that is why it may be sent.
    private final class Holder: @unchecked Sendable {
        var encoder = VectorTileEncoder()
    }

    /// Lends an encoder that `body` begins a tile with.
    ///
    /// - Parameter body: returns the tile's size in bytes.
    func lend<Failure: Error>(
        _ body: (inout VectorTileEncoder) throws(Failure) -> Int
    ) throws(Failure) {
        let holder = idle.withLock { $0.popLast() } ?? Holder()
        guard try body(&holder.encoder) <= Self.largestTile else { return }
        idle.withLock { idle in
            if idle.count < Self.capacity { idle.append(holder) }
        }
    }
}
