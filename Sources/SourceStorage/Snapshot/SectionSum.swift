// SPDX-License-Identifier: MIT
import Compression
import Synchronization
import SystemSupport

/// The checksum of a section whose pieces several threads load, so that a large section takes no longer than its part of all bytes.
///
/// Pieces are loaded in any order. They are summed in order, each soon after it was loaded, by one thread at a time. Safe from any
/// thread.
final class SectionSum: Sendable {
    private struct State: Sendable {
        var isLoaded: [Bool]
        /// The first piece that has not been summed.
        var next = 0
        /// The checksum of the pieces before `next`; nil while a thread adds that piece.
        var checksum: BlockChecksum? = BlockChecksum()

        /// Lends the checksum for the next piece; nil if that is not loaded, or another thread has the checksum.
        mutating func lend() -> BlockChecksum? {
            guard next < isLoaded.count, isLoaded[next] else { return nil }
            defer { checksum = nil }
            return checksum
        }
    }

    let pieceCount: Int
    private let range: Range<Int>
    private let state: Mutex<State>

    /// A multiple of what a checksum adds at once, and little enough for a processor's cache.
    private static let pieceSize = 1 << 19

    /// - Parameter range: the section's bytes in the file.
    init(_ range: Range<Int>) {
        self.range = range
        pieceCount = max(1, (range.count + Self.pieceSize - 1) / Self.pieceSize)
        state = Mutex(State(isLoaded: Array(repeating: false, count: pieceCount)))
    }

    /// Loads a piece, and sums it and those that waited for it. Call it once for each piece.
    ///
    /// - Returns: the section's checksum from the call that sums the last piece; nil from all others.
    func load(_ piece: Int, of file: FileImage) throws(FileError) -> UInt64? {
        try file.load(bytes(of: piece))
        var lent = state.withLock { state in
            state.isLoaded[piece] = true
            return state.lend()
        }
        while var checksum = lent {
            // Only the thread that has the checksum changes `next`.
            let next = state.withLock { $0.next }
            let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[bytes(of: next)])
            if next == pieceCount - 1 { return checksum.finish(bytes) }
            checksum.add(bytes)
            lent = state.withLock { state in
                (state.next, state.checksum) = (next + 1, checksum)
                return state.lend()
            }
        }
        return nil
    }

    private func bytes(of piece: Int) -> Range<Int> {
        let start = range.lowerBound + piece * Self.pieceSize
        return start..<min(start + Self.pieceSize, range.upperBound)
    }
}
