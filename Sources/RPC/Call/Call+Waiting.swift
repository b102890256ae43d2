// SPDX-License-Identifier: MIT
import ClusterProtocol
import ReplicationLog
import SourceEngine
import SystemSupport

/// The state of a call that waits for its source. Used only on the loop's thread.
final class CallDelay {
    fileprivate var observation: SourceObservation?
    /// What the client has sent meanwhile. Of viewports only the last, which supersedes earlier ones.
    fileprivate var items: [[UInt8]] = []
    fileprivate var hasEnded = false

    /// Bytes of what the client has sent.
    var waitingBytes: Int { items.reduce(0) { $0 + $1.count } }

    func endInput() { hasEnded = true }

    /// Nobody waits any more.
    func end() { observation = nil }
}

/// Calls that begin once their source has a position, or has been read after a start.
extension Call {
    /// Keeps an item until the call begins. A viewport counts like the call's params, an item of features like those
    /// that wait for the pool.
    func keep(_ item: [UInt8], in delay: CallDelay) throws(RPCError) {
        guard let caller else { return }
        if method.needsEveryItem {
            delay.items.append(item)
            caller.inputBytes += item.count
            return
        }
        _ = takeItems(of: delay, caller)
        delay.items = [item]
        caller.engine.load.input.add(item.count, of: caller.share)
        try caller.checkHeld(item.count)
    }

    /// Takes the items that a waiting call keeps.
    func takeItems(of delay: CallDelay, _ caller: Caller) -> [[UInt8]] {
        defer { delay.items = [] }
        let bytes = delay.items.reduce(0) { $0 + $1.count }
        if method.needsEveryItem {
            caller.inputBytes -= bytes
        } else {
            caller.engine.load.input.add(-bytes, of: caller.share)
        }
        return delay.items
    }

    /// Begins to wait. The deadline still applies.
    func begin(_ delay: CallDelay) {
        guard let post = caller?.engine.loop.post, let wait = pending.wait else { return }
        let (waiting, news) = (OnLoop(self), Signal())
        delay.observation = wait.source.observePosition {
            guard wait.isOver, news.raise() else { return }
            post { waiting.value.goOn() }
        }
        // The wait may have ended while the observation was made.
        if wait.isOver, news.raise() { post { waiting.value.goOn() } }
    }

    /// The wait is over, so the call begins as if it had just arrived.
    private func goOn() {
        guard let caller, case .waiting(let delay) = work else { return }
        delay.end()
        do throws(RPCError) {
            // The source that has replaced its source may be incomplete, or not have reached the position.
            pending.wait = try caller.engine.methods.find(pending.method, &pending.params)
            if pending.wait != nil { return begin(delay) }
            let items = takeItems(of: delay, caller)
            work = try caller.work(of: pending)
            beginWork()
            for item in items { receive(item) }
            if delay.hasEnded { endInput() }
        } catch { fail(error) }
    }
}

/// What a call waits for before it begins. Safe from any thread.
struct SourceWait: Sendable {
    let source: Source
    let condition: Condition

    enum Condition: Sendable, Equatable {
        /// The source's files have been read after a start.
        case read
        /// The data have reached a position of their table's log.
        case position(LogPosition)
        /// The data have reached a position of some feed's log.
        case feed(String)
    }

    /// Whether the wait is over: the condition holds, or the source was replaced or deleted.
    var isOver: Bool {
        if source.isRetired { return true }
        return switch condition {
        case .read: !source.isLoading
        case .position(let position):
            source.revision.logs.table.flatMap { LogPosition($0.mark.position) }.map { $0 >= position } ?? false
        case .feed(let position): source.hasReached(position)
        }
    }
}
