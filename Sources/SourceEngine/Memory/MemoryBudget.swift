// SPDX-License-Identifier: MIT
import Aggregates
import ImageStore
import Synchronization
import SystemSupport

/// The budget of bytes for sources, imports, builds, filters and pages of images. Safe from any thread.
///
/// One limit bounds the memory of all of them together. An owner's limit also counts text that lies in files.
///
/// Sources count with what their current revision holds. Imports, builds and filters count with claims, which
/// they make before they allocate. So a change that would exceed the limit is rejected early, and nothing
/// else is affected. An eighth of the limit is kept for filters. Pages of images use only what is free.
public final class MemoryBudget: Sendable {
    /// The limits in bytes; 0 means no limit.
    public struct Limit: Sendable, Equatable {
        public var bytes: Int
        public var bytesPerOwner: Int
        public var sourcesPerOwner: Int

        public init(bytes: Int = 0, bytesPerOwner: Int = 0, sourcesPerOwner: Int = 0) {
            self.bytes = bytes
            self.bytesPerOwner = bytesPerOwner
            self.sourcesPerOwner = sourcesPerOwner
        }
    }

    /// What a source holds.
    struct Holding {
        let owner: UInt32?
        let memory: Int
        let file: Int
    }

    struct State {
        var limit: Limit
        var claimed = 0
        var claimedByOwner: [UInt32: Int] = [:]
        /// Bytes claimed by builds, which allocate after claiming.
        var ahead = 0
        /// Bytes of small claims since the system was last asked.
        var unchecked = 0
        /// The number of running recoveries of acknowledged data.
        var recoveries = 0
        /// Bytes that filters hold.
        var filters = 0
        var sources: @Sendable () -> [Holding] = { [] }
        var evictFilters: @Sendable (Int) -> Bool = { _ in false }
        var fitPages: @Sendable () -> Void = {}

        /// The bytes by which what is held would exceed the limit with `more`; at most 0 if there is room, or no limit.
        ///
        /// - Parameters:
        ///   - sources: what the sources' revisions hold.
        ///   - reserved: kept for filters.
        func excess(of more: Int, sources: Int, reserved: Int) -> Int {
            limit.bytes > 0 ? sources + claimed + max(filters, reserved) + more - limit.bytes : 0
        }
    }

    let state: Mutex<State>
    /// The bytes that cached filters may hold.
    let filterBytes: Int
    /// The system's limit for the process and how much of it is used; nil if there is no limit.
    private let system: @Sendable () -> SystemMemory.Use?
    /// The memory that the machine has available; nil if unknown.
    let machine: @Sendable () -> Int?

    /// - Parameters:
    ///   - filterBytes: the bytes that cached filters may hold.
    ///   - system: returns the system's limits. Called before large allocations.
    ///   - machine: returns the memory that the machine can spare.
    package init(
        _ limit: Limit, filterBytes: Int = 0,
        system: @escaping @Sendable () -> SystemMemory.Use? = { SystemMemory.process.use },
        machine: @escaping @Sendable () -> Int? = { SystemMemory.process.available }
    ) {
        state = Mutex(State(limit: limit))
        self.filterBytes = filterBytes
        self.system = system
        self.machine = machine
    }

    /// May be changed at any time. Of what is held already, only pages are affected.
    public var limit: Limit {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = newValue }
            fitPages()
        }
    }

    /// Sets the function that lists what each source holds.
    func count(_ sources: @escaping @Sendable () -> [Holding]) {
        state.withLock { $0.sources = sources }
    }

    /// Bytes that imports and builds hold.
    public var claimedBytes: Int { state.withLock { $0.claimed } }

    /// Runs the recovery of acknowledged data: claims count, but none is rejected, since data
    /// must not be lost because the limit has been lowered.
    package func whileRecovering<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        state.withLock { $0.recoveries += 1 }
        defer { state.withLock { $0.recoveries -= 1 } }
        try body()
    }

    /// Makes an empty claim.
    ///
    /// - Parameters:
    ///   - owner: the user whose limit applies besides the total one; nil if none.
    ///   - kind: when the memory is allocated.
    package func claim(for owner: UInt32?, _ kind: MemoryClaim.Kind = .gathered) -> MemoryClaim {
        MemoryClaim(self, owner, kind)
    }

    /// Throws if the system's limit would be exceeded. Small claims are covered by the reserve.
    func checkSystem(_ more: Int, _ kind: MemoryClaim.Kind) throws(SourceError) {
        let isDue = state.withLock { state in
            guard kind == .gathered else { return more >= Self.leastChecked }
            state.unchecked += more
            guard state.unchecked >= Self.checkStep else { return false }
            state.unchecked = 0
            return true
        }
        guard isDue else { return }
        for mayRelease in [true, false] {
            guard let use = system() else { return }
            let (ahead, recoveries) = state.withLock { ($0.ahead, $0.recoveries) }
            let room = use.room - min(Self.reserve, use.limit / 4) - ahead
            guard recoveries == 0, more > room else { return }
            // Kept blocks count as used.
            if mayRelease, KeptBlocks.process.release() { continue }
            throw .tooLarge(
                "this takes about \(more >> 20) MiB more, and of the \(use.limit >> 20) MiB that the system allows this process \(max(0, room) >> 20) MiB are free for sources; delete sources, import less, or raise the limit (MemoryMax=, ulimit -v)"
            )
        }
    }

    private static let leastChecked = 1 << 20
    /// Asking the system takes about as long as reading 20 KiB of features.
    private static let checkStep = 16 << 20
    /// Memory left for calls: messages, answers and their intermediate data.
    static let reserve = 384 << 20

    func addAhead(_ more: Int) { state.withLock { $0.ahead += more } }

    /// Cached filters are evicted before anything is refused.
    func take(_ more: Int, file moreText: Int, _ owner: UInt32?) throws(SourceError) {
        while let (refusal, missing) = tryToTake(more, file: moreText, owner) {
            guard missing > 0, makeRoom(missing) else { throw refusal }
        }
    }

    /// Takes bytes, or returns why not, and how many bytes of the limit are missing. O(sources) if there is a limit.
    private func tryToTake(
        _ more: Int, file moreText: Int, _ owner: UInt32?
    ) -> (SourceError, missing: Int)? {
        let (limit, sources) = state.withLock { state in
            (state.recoveries == 0 ? state.limit : Limit(), state.sources)
        }
        var (all, own) = (0, 0)
        let grows = more > 0 || moreText > 0
        if grows, limit.bytes > 0 || limit.bytesPerOwner > 0 {
            for source in sources() {
                all += source.memory
                if let owner, source.owner == owner { own += source.memory + source.file }
            }
        }
        return state.withLock { state in
            let reserved = reserved(limit.bytes)
            let missing = more > 0 && limit.bytes > 0 ? state.excess(of: more, sources: all, reserved: reserved) : 0
            if missing > 0 {
                let filters = max(state.filters, reserved)
                let others = filters > 0 ? ", beside \(filters >> 20) MiB that are kept for filters," : ""
                let refusal = SourceError.tooLarge(
                    "this would take the sources\(others) past the \(limit.bytes) bytes of limits.memoryBytes; delete sources, or import less"
                )
                return (refusal, missing)
            }
            if grows, let owner, limit.bytesPerOwner > 0,
                own + state.claimedByOwner[owner, default: 0] + more + moreText > limit.bytesPerOwner
            {
                let refusal = SourceError.tooLarge(
                    "this would take the sources of user \(owner) past the \(limit.bytesPerOwner) bytes that they may hold (limits.maxSourceBytesPerUser); delete some, or import less"
                )
                return (refusal, 0)
            }
            state.claimed += more
            if let owner {
                let left = state.claimedByOwner[owner, default: 0] + more + moreText
                state.claimedByOwner[owner] = left == 0 ? nil : left
            }
            return nil
        }
    }
}

/// Whether a build fits.
extension MemoryBudget {
    /// Whether the sources may hold so many bytes more, also while a recovery runs. Caches make room first. O(sources)
    /// if there is a limit.
    func hasRoom(for more: Int) -> Bool {
        while true {
            let held = heldBytes
            let missing = state.withLock { $0.excess(of: more, sources: held, reserved: reserved($0.limit.bytes)) }
            guard missing > 0 else { return true }
            guard makeRoom(missing) else { return false }
        }
    }

    /// Throws if the machine does not have so much memory to spare. For memory beyond the limit of the sources.
    func checkMachine(_ more: Int) throws(SourceError) {
        guard let available = machine(), state.withLock({ $0.recoveries == 0 }),
            more > available - min(Self.reserve, available / 4)
        else { return }
        throw .tooLarge(
            "the build takes about \(more >> 20) MiB beyond limits.memoryBytes, and the machine has only \(available >> 20) MiB available; delete sources, import less, or end other programs"
        )
    }
}
