// SPDX-License-Identifier: MIT
import RPC
import EventLoop
import GeoJSON
import PostgresFeed
import ReplicationLog
import SourceEngine

extension TableFollower: TableFeedConsumer {
    func feedStartedCopy(_ feed: TableFeed, because reason: String) {
        (steps, latest, keeping) = ([], nil, nil)
        copyBegan = MonotonicClock.now()
        copy = TableCopy(into: source)
        log.write(.info, "the table is being copied: \(reason)", fields)
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
        source.follow(upTo: LogMark(position)) { known in
            LogPosition(known.position).map { $0 < position.log } ?? false
        }
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

    /// Logs a reason once until the table is followed again, even if attempts fail for alternating reasons.
    private func logOnce(_ level: Log.Level, _ reason: String) {
        guard !loggedReasons.contains(reason) else { return }
        loggedReasons = loggedReasons.suffix(Self.rememberedReasons - 1) + [reason]
        log.write(level, reason, fields)
    }
}

/// A copy of a table in progress. Belongs to the loop's thread.
final class TableCopy {
    let features: FeatureImport
    /// Pieces delivered by the feed and not passed to the pool.
    var pieces: [CopyPiece] = []
    /// The index of the next piece that is passed to the pool.
    var next = 0

    init(into source: Source) {
        features = FeatureImport(into: source, mode: .replace, policy: .skip, allowsEmpty: true)
    }

    func cancel() {
        pieces = []
        features.cancel()
    }
}

extension TableFollower {
    /// Reads pieces of the copy on all cores that imports may use.
    func readPieces() {
        let threads = max(1, threads)
        while let copy, let piece = copy.pieces.first, piecesInWork < threads,
            copy.next - copy.features.takenPieces < 2 * threads
        {
            copy.pieces.removeFirst()
            read(piece, copy.next, copy)
            copy.next += 1
        }
    }

    private func read(_ piece: CopyPiece, _ number: Int, _ copy: TableCopy) {
        let features = copy.features
        piecesInWork += 1
        loop.compute(isLong: true) {
            Result { () throws(TableJob.Failure) in try TableJob.gather(piece, number, into: features) }
        } completion: { [self] (outcome: Result<CopyCount, TableJob.Failure>) in
            piecesInWork -= 1
            guard !ending.isEnding else { return endWhenIdle() }
            if self.copy === copy {
                switch outcome {
                case .success(let count): feed?.take(count)
                case .failure(let failure): copyLater(failure)
                }
            }
            readPieces()
        }
    }
}
