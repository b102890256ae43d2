// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import Synchronization
import SystemSupport

/// How many bytes the sources and what is on its way into them may hold. Safe from any thread.
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
        /// How many are taking up what was acknowledged before.
        var recoveries = 0
        var sources: @Sendable () -> [Source] = { [] }
    }

    private let state: Mutex<State>

    package init(_ limit: Limit) { state = Mutex(State(limit: limit)) }

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
    /// - Parameter owner: whose limit counts besides that of all; nil: nobody's.
    package func claim(for owner: UInt32?) -> MemoryClaim { MemoryClaim(self, owner) }

    /// O(sources) where there is a limit.
    fileprivate func take(_ more: Int, _ owner: UInt32?) throws(SourceError) {
        let (limit, sources) = state.withLock { state in
            (state.recoveries == 0 ? state.limit : Limit(), state.sources)
        }
        var (all, own) = (0, 0)
        if more > 0, limit.bytes > 0 || limit.bytesPerOwner > 0 {
            for source in sources() {
                let bytes = source.revision.memoryBytes
                all += bytes
                if let owner, source.owner == owner { own += bytes }
            }
        }
        let refusal = state.withLock { state -> SourceError? in
            if more > 0, limit.bytes > 0, all + state.claimed + more > limit.bytes {
                return .tooLarge(
                    "this would take the sources past the \(limit.bytes) bytes that they may hold (limits.memoryBytes); delete sources, or import less"
                )
            }
            if more > 0, let owner, limit.bytesPerOwner > 0,
                own + state.claimedByOwner[owner, default: 0] + more > limit.bytesPerOwner
            {
                return .tooLarge(
                    "this would take the sources of user \(owner) past the \(limit.bytesPerOwner) bytes that they may hold (limits.maxSourceBytesPerUser); delete some, or import less"
                )
            }
            state.claimed += more
            if let owner {
                let left = state.claimedByOwner[owner, default: 0] + more
                state.claimedByOwner[owner] = left == 0 ? nil : left
            }
            return nil
        }
        if let refusal { throw refusal }
    }
}

/// Bytes that an import or a build holds or is about to; given back with the last reference.
package final class MemoryClaim: Sendable {
    private let budget: MemoryBudget
    private let owner: UInt32?
    private let bytes = Mutex(0)

    /// Claims grow by this much at least, so that asking costs little.
    private static let step = 1 << 20

    fileprivate init(_ budget: MemoryBudget, _ owner: UInt32?) {
        self.budget = budget
        self.owner = owner
    }

    /// Claims so many bytes in all, or throws `tooLarge` and keeps what it had.
    package func grow(to count: Int) throws(SourceError) {
        let held = bytes.withLock { $0 }
        guard count > held else { return }
        let more = max(count - held, min(Self.step, count))
        try budget.take(more, owner)
        bytes.withLock { $0 += more }
    }

    deinit {
        let held = bytes.withLock { $0 }
        if held > 0 { try? budget.take(-held, owner) }
    }
}
