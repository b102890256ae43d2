// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import Synchronization
import SystemSupport

/// How many bytes the sources and what is on its way into them may hold. Safe from any thread.
///
/// The limit of all bytes is one of memory. For the limit of an owner text counts that lies in files, too.
///
/// Sources count with what their current revision holds; imports and builds count with claims, which they
/// make before they take the memory. So a change that would pass the limit is refused early, and nothing
/// else notices.
public final class MemoryBudget: Sendable {
    /// What may be held; 0 stands for no limit.
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

    private struct State {
        var limit: Limit
        var claimed = 0
        var claimedByOwner: [UInt32: Int] = [:]
        /// Of builds, which take it after they have claimed it.
        var ahead = 0
        /// Claimed piece by piece since the system was asked last.
        var unchecked = 0
        /// How many are taking up what was acknowledged before.
        var recoveries = 0
        var sources: @Sendable () -> [Source] = { [] }
    }

    private let state: Mutex<State>
    /// What the system lets the process use, and how much of that it does; nil if there is no limit.
    private let system: @Sendable () -> SystemMemory.Use?

    /// - Parameter system: asked for the system's limits before much memory is taken.
    package init(
        _ limit: Limit, system: @escaping @Sendable () -> SystemMemory.Use? = { SystemMemory.process.use }
    ) {
        state = Mutex(State(limit: limit))
        self.system = system
    }

    /// May be changed at any time; what is held already stays.
    public var limit: Limit {
        get { state.withLock { $0.limit } }
        set { state.withLock { $0.limit = newValue } }
    }

    /// Passes the list of sources to the budget.
    package func count(_ sources: @escaping @Sendable () -> [Source]) {
        state.withLock { $0.sources = sources }
    }

    /// Bytes that imports and builds hold.
    public var claimedBytes: Int { state.withLock { $0.claimed } }

    /// Runs what takes up data that were acknowledged before: claims count, but none is refused, since data
    /// are not to be lost because the limit is smaller than it was.
    package func whileRecovering<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        state.withLock { $0.recoveries += 1 }
        defer { state.withLock { $0.recoveries -= 1 } }
        try body()
    }

    /// A claim of nothing yet.
    ///
    /// - Parameters:
    ///   - owner: whose limit counts besides that of all; nil: nobody's.
    ///   - kind: when the memory is taken.
    package func claim(for owner: UInt32?, _ kind: MemoryClaim.Kind = .gathered) -> MemoryClaim {
        MemoryClaim(self, owner, kind)
    }

    /// Refuses what the system would not give. What is asked for in small pieces is left to the reserve.
    fileprivate func checkSystem(_ more: Int, _ kind: MemoryClaim.Kind) throws(SourceError) {
        let isDue = state.withLock { state in
            guard kind == .gathered else { return more >= Self.leastChecked }
            state.unchecked += more
            guard state.unchecked >= Self.checkStep else { return false }
            state.unchecked = 0
            return true
        }
        guard isDue, let use = system() else { return }
        let (ahead, recoveries) = state.withLock { ($0.ahead, $0.recoveries) }
        let room = use.room - min(Self.reserve, use.limit / 4) - ahead
        guard recoveries == 0, more > room else { return }
        throw .tooLarge(
            "this takes about \(more >> 20) MiB more, and of the \(use.limit >> 20) MiB that the system allows this process \(max(0, room) >> 20) MiB are free for sources; delete sources, import less, or raise the limit (MemoryMax=, ulimit -v)"
        )
    }

    private static let leastChecked = 1 << 20
    /// Asking the system takes about as long as reading 20 KiB of features.
    private static let checkStep = 16 << 20
    /// What calls may take beside sources: messages, answers and what they are made of.
    private static let reserve = 384 << 20

    fileprivate func addAhead(_ more: Int) { state.withLock { $0.ahead += more } }

    /// O(sources) where there is a limit.
    fileprivate func take(_ more: Int, file moreText: Int, _ owner: UInt32?) throws(SourceError) {
        let (limit, sources) = state.withLock { state in
            (state.recoveries == 0 ? state.limit : Limit(), state.sources)
        }
        var (all, own) = (0, 0)
        let grows = more > 0 || moreText > 0
        if grows, limit.bytes > 0 || limit.bytesPerOwner > 0 {
            for source in sources() {
                let bytes = source.revision.memoryBytes
                all += bytes
                if let owner, source.owner == owner { own += bytes + source.revision.fileBytes }
            }
        }
        let refusal = state.withLock { state -> SourceError? in
            if more > 0, limit.bytes > 0, all + state.claimed + more > limit.bytes {
                return .tooLarge(
                    "this would take the sources past the \(limit.bytes) bytes that they may hold (limits.memoryBytes); delete sources, or import less"
                )
            }
            if grows, let owner, limit.bytesPerOwner > 0,
                own + state.claimedByOwner[owner, default: 0] + more + moreText > limit.bytesPerOwner
            {
                return .tooLarge(
                    "this would take the sources of user \(owner) past the \(limit.bytesPerOwner) bytes that they may hold (limits.maxSourceBytesPerUser); delete some, or import less"
                )
            }
            state.claimed += more
            if let owner {
                let left = state.claimedByOwner[owner, default: 0] + more + moreText
                state.claimedByOwner[owner] = left == 0 ? nil : left
            }
            return nil
        }
        if let refusal { throw refusal }
    }
}

/// Bytes that an import or a build holds or is about to; given back with the last reference.
package final class MemoryClaim: Sendable {
    package enum Kind: Sendable {
        /// It is taken piece by piece, just after it is claimed.
        case gathered
        /// It is taken while the claim is held.
        case ahead
        /// The same, for what the limits of sources do not count: only the system's.
        case uncounted
    }

    private let budget: MemoryBudget
    private let owner: UInt32?
    private let kind: Kind
    private let held = Mutex((memory: 0, file: 0))

    /// Claims grow by this much at least, so that asking costs little.
    private static let step = 1 << 20

    fileprivate init(_ budget: MemoryBudget, _ owner: UInt32?, _ kind: Kind) {
        self.budget = budget
        self.owner = owner
        self.kind = kind
    }

    /// Claims so many bytes in all, or throws `tooLarge` and keeps what it had.
    ///
    /// - Parameters:
    ///   - count: of memory.
    ///   - file: of text in files.
    package func grow(to count: Int, file: Int = 0) throws(SourceError) {
        let held = held.withLock { $0 }
        guard count > held.memory || file > held.file else { return }
        let more = count > held.memory ? max(count - held.memory, min(Self.step, count)) : 0
        let moreText = max(0, file - held.file)
        if more > 0 { try budget.checkSystem(more, kind) }
        if kind != .uncounted { try budget.take(more, file: moreText, owner) }
        if kind != .gathered { budget.addAhead(more) }
        self.held.withLock { $0 = (held.memory + more, held.file + moreText) }
    }

    deinit {
        let held = held.withLock { $0 }
        guard held.memory > 0 || held.file > 0 else { return }
        if kind != .uncounted { try? budget.take(-held.memory, file: -held.file, owner) }
        if kind != .gathered { budget.addAhead(-held.memory) }
    }
}
