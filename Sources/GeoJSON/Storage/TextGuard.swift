// SPDX-License-Identifier: MIT
import Compression
import Synchronization

/// Verifies text from a file before it is first read, chunk by chunk, so that opening a large file
/// is cheap and yet no byte is used unverified.
///
/// Safe from any thread. Two threads that verify the same chunk do the work twice and agree.
public final class TextGuard: Sendable {
    /// The number of bytes that one checksum covers.
    public static let chunkSize = 1 << 16

    private let checksums: [UInt64]
    /// A bit for each chunk: whether it has been verified.
    private let good: Mutex<[UInt64]>
    private let state = Atomic<UInt8>(State.unknown.rawValue)

    private enum State: UInt8 {
        case unknown
        case intact
        case damaged
    }

    /// Loads a range of the text into memory before it is first read; false if that fails.
    private let load: @Sendable (Range<Int>) -> Bool

    /// - Parameter checksums: the checksums of the chunks, in order.
    init(checksums: [UInt64], load: @escaping @Sendable (Range<Int>) -> Bool = { _ in true }) {
        self.checksums = checksums
        self.load = load
        good = Mutex(Array(repeating: 0, count: (checksums.count + 63) / 64))
    }

    /// Whether a chunk that was read had a wrong checksum. Never becomes false again.
    public var isDamaged: Bool { state.load(ordering: .relaxed) == State.damaged.rawValue }

    /// Whether the bytes of a range may be read. O(chunks not verified before).
    @inline(__always) func admits(_ range: Range<Int>, of text: UnsafeRawBufferPointer) -> Bool {
        state.load(ordering: .acquiring) == State.intact.rawValue || check(range, of: text)
    }

    private func check(_ range: Range<Int>, of text: UnsafeRawBufferPointer) -> Bool {
        guard !range.isEmpty else { return true }
        let chunks = range.lowerBound / Self.chunkSize...(range.upperBound - 1) / Self.chunkSize
        return chunks.allSatisfy { check(chunk: $0, of: text) }
    }

    private func check(chunk: Int, of text: UnsafeRawBufferPointer) -> Bool {
        let (word, bit) = (chunk / 64, UInt64(1) << UInt64(chunk % 64))
        guard chunk < checksums.count else { return fail() }
        if good.withLock({ $0[word] & bit != 0 }) { return true }
        let start = chunk * Self.chunkSize
        let end = min(start + Self.chunkSize, text.count)
        guard start < end, load(start..<end),
            BlockChecksum.of(UnsafeRawBufferPointer(rebasing: text[start..<end])) == checksums[chunk]
        else { return fail() }
        good.withLock { $0[word] |= bit }
        return true
    }

    private func fail() -> Bool {
        state.store(State.damaged.rawValue, ordering: .releasing)
        return false
    }

    /// Verifies all remaining chunks. False if one is damaged.
    func checkAll(_ text: UnsafeRawBufferPointer, isCancelled: () -> Bool) -> Bool {
        if state.load(ordering: .acquiring) == State.intact.rawValue { return true }
        for chunk in checksums.indices {
            if isCancelled() { return !isDamaged }
            if !check(chunk: chunk, of: text) { return false }
        }
        let (unknown, intact) = (State.unknown.rawValue, State.intact.rawValue)
        _ = state.compareExchange(expected: unknown, desired: intact, ordering: .acquiringAndReleasing)
        return !isDamaged
    }
}
