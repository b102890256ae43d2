// SPDX-License-Identifier: MIT
import Calls
import EventLoop
import GeoJSON
import PostgresFeed
import Sources

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
        case .following: log.write(.notice, "the table is followed", fields)
        case .waiting(let reason): log.write(.warning, "the table can't be followed now: \(reason)", fields)
        case .failed(let reason): log.write(.error, "the table can't be followed: \(reason)", fields)
        }
    }
}
