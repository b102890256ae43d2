// SPDX-License-Identifier: MIT
import Synchronization
import VectorTile

/// A pool of tile encoders for reuse. Making their tables takes a tenth of a tile's work.
/// Safe from any thread.
final class EncoderShelf: Sendable {
    static let shared = EncoderShelf()

    private let idle = Mutex<[Holder]>([])
    /// The number in use at the same time on most machines.
    private static let capacity = 8
    /// An encoder keeps the memory of its largest tile. Encoders that wrote larger tiles are freed.
    private static let largestTile = 64 << 10

    /// Only the thread that took it off the shelf uses it, so it may be sent.
    private final class Holder: @unchecked Sendable {
        var encoder = VectorTileEncoder()
    }

    /// Lends an encoder to `body`, which writes one tile.
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
