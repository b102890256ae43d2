// SPDX-License-Identifier: MIT
import Synchronization

/// A cache of file blocks with one limit for all files. When it is full, blocks that were not read recently are
/// evicted (the clock algorithm).
///
/// Readers get copies, so a block may be evicted at any time. Safe from any thread.
package final class BlockCache: Sendable {
    /// The size of a block in bytes. A file's last block may be shorter.
    package static let blockSize = 4096

    /// Counts the cached blocks of one file.
    package final class Holder: Sendable {
        package let number: UInt32
        fileprivate let blocks = Atomic<Int>(0)

        fileprivate init(_ number: UInt32) { self.number = number }

        package var blockCount: Int { blocks.load(ordering: .relaxed) }
    }

    private let shards: [Shard]
    private let holders = Atomic<UInt32>(0)

    /// - Parameters:
    ///   - bytes: the limit. Memory is allocated as blocks arrive.
    ///   - take: counts bytes before they are allocated, and a negative number once they are freed. If it returns false,
    ///     they are not allocated. Called from any thread with a lock held: it must not use the cache.
    package init(bytes: Int, take: @escaping @Sendable (Int) -> Bool = { _ in true }) {
        let slots = max(0, bytes) / Self.blockSize / Self.shardCount
        shards = (0..<Self.shardCount).map { _ in Shard(slots: slots, take: take) }
    }

    /// About as many threads can read at the same time without waiting for each other.
    private static let shardCount = 16

    /// Creates the holder of one file's blocks. Numbers are never reused.
    package func makeHolder() -> Holder { Holder(holders.add(1, ordering: .relaxed).newValue) }

    /// The size of the cached blocks in bytes.
    package var bytes: Int { shards.reduce(0) { $0 + $1.count } * Self.blockSize }

    /// The memory that the cache has allocated, in bytes.
    package var allocatedBytes: Int { shards.reduce(0) { $0 + $1.allocatedBytes } }

    /// Evicts blocks and frees their memory, until at least so many bytes are free or the cache is empty.
    ///
    /// - Returns: whether any memory was freed.
    package func shrink(by bytes: Int) -> Bool {
        var freed = 0
        while freed < bytes, let largest = shards.max(by: { $0.allocatedBytes < $1.allocatedBytes }) {
            let more = largest.removeSlab()
            guard more > 0 else { break }
            freed += more
        }
        return freed > 0
    }

    /// Copies bytes of a block from `offset` bytes after its start; false if the block is not cached.
    package func copy(
        _ block: Int, of holder: Holder, from offset: Int, to target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        shard(block).copy(Self.key(block, holder), from: offset, to: target)
    }

    /// Whether a block is cached.
    package func contains(_ block: Int, of holder: Holder) -> Bool {
        shard(block).contains(Self.key(block, holder))
    }

    /// Adds a block.
    ///
    /// - Parameter replacing: whether to evict another block if the cache is full. If false, this one is not added then.
    /// - Returns: whether the block is cached now.
    @discardableResult
    package func insert(
        _ block: Int, of holder: Holder, _ bytes: UnsafeRawBufferPointer, replacing: Bool
    ) -> Bool {
        shard(block).insert(Self.key(block, holder), bytes, holder, replacing: replacing)
    }

    /// Removes a file's blocks. O(all blocks).
    package func removeAll(of holder: Holder) {
        guard holder.blockCount > 0 else { return }
        for shard in shards { shard.removeAll(of: holder) }
    }

    private func shard(_ block: Int) -> Shard { shards[block % Self.shardCount] }

    private static func key(_ block: Int, _ holder: Holder) -> UInt64 {
        UInt64(holder.number) << 32 | UInt64(UInt32(truncatingIfNeeded: block))
    }
}

extension BlockCache {
    /// One sixteenth of the blocks, with a lock of its own.
    private final class Shard: Sendable {
        private let slotCount: Int
        private let take: @Sendable (Int) -> Bool
        private let state = Mutex(State())

        private struct Slot {
            var key: UInt64
            /// Nil if the slot has no block.
            var holder: Holder?
            var size: Int
            /// Whether the block was read since the hand last passed it.
            var isRecent = false
        }

        /// Invariant: each slab is one allocation of `slabSize` blocks, and there is one for each `slabSize` slots begun.
        /// They are read and written only with the lock held, so the state may be passed between threads.
        private struct State: @unchecked Sendable {
            var slabs: [UnsafeMutableRawBufferPointer] = []
            var places: [UInt64: Int] = [:]
            var slots: [Slot] = []
            var free: [Int] = []
            /// The next slot to be considered for eviction.
            var hand = 0

            func bytes(_ slot: Int) -> UnsafeMutableRawBufferPointer {
                let start = slot % Shard.slabSize * BlockCache.blockSize
                return UnsafeMutableRawBufferPointer(
                    rebasing: slabs[slot / Shard.slabSize][start..<start + BlockCache.blockSize])
            }
        }

        /// The number of blocks in one allocation.
        private static let slabSize = 256

        private static let slabBytes = slabSize * BlockCache.blockSize

        init(slots: Int, take: @escaping @Sendable (Int) -> Bool) {
            (slotCount, self.take) = (slots, take)
        }

        deinit { state.withLock { state in for slab in state.slabs { slab.deallocate() } } }

        var count: Int { state.withLock { $0.places.count } }

        var allocatedBytes: Int { state.withLock { $0.slabs.count } * Self.slabBytes }

        /// Evicts the blocks of the newest allocation and frees it. Returns its size; 0 if there is none.
        func removeSlab() -> Int {
            state.withLock { state in
                guard let slab = state.slabs.popLast() else { return 0 }
                let kept = state.slabs.count * Self.slabSize
                for slot in kept..<state.slots.count where state.slots[slot].holder != nil {
                    remove(slot, &state)
                }
                state.slots.removeSubrange(kept...)
                state.free.removeAll { $0 >= kept }
                state.hand = 0
                slab.deallocate()
                _ = take(-Self.slabBytes)
                return Self.slabBytes
            }
        }

        /// Whether a block is cached, which is then kept longer than others.
        func contains(_ key: UInt64) -> Bool {
            state.withLock { state in
                guard let slot = state.places[key] else { return false }
                state.slots[slot].isRecent = true
                return true
            }
        }

        func copy(_ key: UInt64, from offset: Int, to target: UnsafeMutableRawBufferPointer) -> Bool {
            state.withLock { state in
                guard let slot = state.places[key], offset >= 0,
                    offset + target.count <= state.slots[slot].size
                else { return false }
                state.slots[slot].isRecent = true
                let block = state.bytes(slot)
                target.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: block[offset..<offset + target.count]))
                return true
            }
        }

        func insert(
            _ key: UInt64, _ block: UnsafeRawBufferPointer, _ holder: Holder, replacing: Bool
        ) -> Bool {
            guard slotCount > 0, block.count <= BlockCache.blockSize else { return false }
            return state.withLock { state in
                if state.places[key] != nil { return true }
                guard let slot = takeSlot(&state, replacing: replacing) else { return false }
                state.bytes(slot).copyMemory(from: block)
                state.slots[slot] = Slot(key: key, holder: holder, size: block.count)
                state.places[key] = slot
                holder.blocks.add(1, ordering: .relaxed)
                return true
            }
        }

        /// Finds an empty slot; nil if there is none.
        private func takeSlot(_ state: inout State, replacing: Bool) -> Int? {
            if let slot = state.free.popLast() { return slot }
            let needsSlab = state.slots.count == state.slabs.count * Self.slabSize
            if state.slots.count < slotCount, !needsSlab || take(Self.slabBytes) {
                if needsSlab {
                    state.slabs.append(.allocate(byteCount: Self.slabBytes, alignment: 4096))
                }
                state.slots.append(Slot(key: 0, holder: nil, size: 0))
                return state.slots.count - 1
            }
            guard replacing, !state.slots.isEmpty else { return nil }
            // The hand clears each mark that it passes, so it stops after one round at the latest.
            while state.slots[state.hand].isRecent {
                state.slots[state.hand].isRecent = false
                state.hand = (state.hand + 1) % state.slots.count
            }
            let slot = state.hand
            state.hand = (state.hand + 1) % state.slots.count
            remove(slot, &state)
            return slot
        }

        private func remove(_ slot: Int, _ state: inout State) {
            state.places[state.slots[slot].key] = nil
            state.slots[slot].holder?.blocks.subtract(1, ordering: .relaxed)
            state.slots[slot] = Slot(key: 0, holder: nil, size: 0)
        }

        func removeAll(of holder: Holder) {
            state.withLock { state in
                for slot in state.slots.indices where state.slots[slot].holder === holder {
                    remove(slot, &state)
                    state.free.append(slot)
                }
            }
        }
    }
}
