// SPDX-License-Identifier: MIT
import RPC
import EventLoop
import PostgresFeed
import SourceEngine

extension TableFollower: TableFeedConsumer {
    func feedStartedCopy(_ feed: TableFeed, _ start: CopyStart) {
        (steps, latest, keeping) = ([], nil, nil)
        copyBegan = MonotonicClock.now()
        copy = TableCopy(into: source)
        log.write(.info, "the table is being copied: \(start.reason)", fields)
    }

    func feed(_ feed: TableFeed, copied piece: CopyPiece) {
        guard let copy else { return }
        copy.pieces.append(piece)
        readPieces()
    }

    func feedFinishedCopy(_ feed: TableFeed, _ end: CopyEnd) {
        guard let copy else { return }
        steps.append(.endOfCopy(end, copy.features))
        advance()
    }

    func feedAbandonedCopy(_ feed: TableFeed) {
        steps = []
        copy?.cancel()
        copy = nil
    }

    func feed(_ feed: TableFeed, committed transaction: FeedTransaction) {
        steps.append(.transaction(transaction))
        advance()
    }

    func feed(_ feed: TableFeed, advancedTo position: FeedPosition) {
        source.follow(upTo: LogMark(position))
        guard source.isKept else { return feed.confirm(position) }
        latest = position
        guard keeping == nil else { return }
        keeping = Timer(on: loop, delay: Self.keepingDelay) { [weak self] in
            guard let self else { return }
            self.keeping = nil
            if let latest = self.latest { self.steps.append(.mark(latest)) }
            self.advance()
        }
        keeping?.unreference()
    }

    func feed(_ feed: TableFeed, changedState state: FeedState) {
        guard !isRetried else { return }
        take(state)
        refresh()
        switch state {
        case .connecting, .copying: break
        case .following:
            loggedReasons = []
            log.write(.notice, "the table is followed", fields)
        case .waiting(let reason): logOnce(.warning, "the table can't be followed now: \(reason)")
        case .failed(let reason): logOnce(.error, "the table can't be followed: \(reason)")
        }
    }

    /// Counts the memory of large messages. It is held already, so it is counted even beyond the limit.
    func feed(_ feed: TableFeed, holds bytes: Int) {
        messageClaim = nil
        guard bytes > 0 else { return }
        let claim = source.shared.memory.claim(for: nil)
        source.shared.memory.whileRecovering { try? claim.grow(to: bytes) }
        messageClaim = claim
    }

    /// Logs a reason once until the table is followed again, even if attempts fail for several reasons in
    /// turn.
    private func logOnce(_ level: Log.Level, _ reason: String) {
        guard !loggedReasons.contains(reason) else { return }
        loggedReasons = loggedReasons.suffix(Self.rememberedReasons - 1) + [reason]
        log.write(level, reason, fields)
    }
}
