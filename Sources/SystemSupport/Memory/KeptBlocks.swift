// SPDX-License-Identifier: MIT
import CLinux
import Dispatch
import Glibc
import Synchronization

/// Large blocks that have been released and wait for the next allocation of about their size.
///
/// A source that is clustered again several times a second releases and allocates the same blocks each time, and the
/// system would clear their pages each time: a tenth of such a build. Blocks that nothing has taken for a second or two
/// are returned to the system. Safe from any thread.
package final class KeptBlocks: Sendable {
    /// Invariant: nothing else refers to its memory. So it may be sent.
    private struct Block: @unchecked Sendable {
        let size: Int
        let base: UnsafeMutableRawPointer
        let keptAt: ContinuousClock.Instant
    }

    private struct State {
        var blocks: [Block] = []
        var mostBytes = 0
        /// Whether old blocks will be looked for.
        var isExpiring = false

        var bytes: Int { blocks.reduce(0) { $0 + $1.size } }
    }

    private let state = Mutex(State())
    private let patience: Duration

    /// - Parameters:
    ///   - mostBytes: how many bytes may be kept.
    ///   - patience: how long a block is kept.
    init(mostBytes: Int = 0, patience: Duration = .seconds(1)) {
        self.patience = patience
        state.withLock { $0.mostBytes = mostBytes }
    }

    deinit { release() }

    /// The process's own. It keeps none until it may.
    package static let process = KeptBlocks()

    /// How many bytes may be kept from now on.
    package func keep(upTo bytes: Int) { state.withLock { $0.mostBytes = bytes } }

    /// The bytes that are kept.
    var bytes: Int { state.withLock { $0.bytes } }

    /// The smallest kept block of at least this size, and of at most 1.5 times this size plus 2 MiB; nil if there is none. Its
    /// content is undefined. To return the rest of it to the system would cost about what keeping it saves.
    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        let block = state.withLock { state -> Block? in
            // The allocator leaves up to 2 MiB behind an aligned block.
            let sizes = size...size + size / 2 + Self.leastBytes
            let fitting = state.blocks.indices.filter { sizes ~= state.blocks[$0].size }
            guard let best = fitting.min(by: { state.blocks[$0].size < state.blocks[$1].size }) else { return nil }
            return state.blocks.remove(at: best)
        }
        return block?.base
    }

    /// Keeps a block of the C library's allocator that nothing uses any more; false if it is too small, is not aligned to
    /// large pages, or there is no room for it.
    func give(_ base: UnsafeMutableRawPointer) -> Bool {
        guard Int(bitPattern: base) & (Self.leastBytes - 1) == 0 else { return false }
        let size = malloc_usable_size(base)
        guard size >= Self.leastBytes else { return false }
        let block = Block(size: size, base: base, keptAt: .now)
        let (isKept, isFirst) = state.withLock { state in
            guard state.bytes + size <= state.mostBytes else { return (false, false) }
            state.blocks.append(block)
            defer { state.isExpiring = true }
            return (true, !state.isExpiring)
        }
        if isFirst { expireLater() }
        return isKept
    }

    /// Returns all kept blocks to the system.
    ///
    /// - Returns: whether there were any.
    @discardableResult package func release() -> Bool { release { _ in true } > 0 }

    /// Returns the blocks to the system that were kept before a moment.
    func release(keptBefore moment: ContinuousClock.Instant) { _ = release { $0.keptAt < moment } }

    private func release(where isDue: (Block) -> Bool) -> Int {
        let due = state.withLock { state in
            let due = state.blocks.filter(isDue)
            state.blocks.removeAll(where: isDue)
            return due
        }
        for block in due { free(block.base) }
        return due.count
    }

    private func expireLater() {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + patience / .seconds(1)) { [weak self] in
            guard let self else { return }
            release(keptBefore: .now - patience)
            let isLast = state.withLock { state in
                state.isExpiring = !state.blocks.isEmpty
                return state.blocks.isEmpty
            }
            if !isLast { expireLater() }
        }
    }

    /// A large page.
    private static let leastBytes = 2 << 20
}
