// SPDX-License-Identifier: MIT
import EventLoop
import PostgresFeed
import SourceEngine

/// Applies what the feed has delivered, step by step.
extension TableFollower {
    func advance() {
        guard !isWorking, retrying == nil, !ending.isEnding, let step = steps.first else { return }
        switch step {
        case .endOfCopy(let end, let copy):
            steps.removeFirst()
            finish(end, copy)
        case .transaction: if gathering == nil { applyTransactions() }
        case .mark(let position):
            steps.removeFirst()
            keep(position)
        }
    }

    func finish(_ end: CopyEnd, _ copy: FeatureImport) {
        let (log, cancellation) = (
            FollowedLog(origin: origin, mark: LogMark(end.position)), ending.cancellation
        )
        perform { () throws(TableJob.Failure) in
            try TableJob.finish(copy, following: log, cancellation)
        } then: { [self] outcome in
            if self.copy?.features === copy { self.copy = nil }
            attempts = 0
            if let feed { take(feed.status.state) }
            copied(outcome, end)
            // The data are already visible; the server learns of the position once they are durable.
            steps.insert(.mark(end.position), at: 0)
        } orElse: { [self] failure in
            if self.copy?.features === copy { copyLater(failure) }
        }
    }

    func applyTransactions() {
        let batch = steps.prefix(while: \.isTransaction).compactMap(\.transaction)
        guard let last = batch.last else { return }
        steps.removeFirst(batch.count)
        let (source, cancellation, began) = (source, ending.cancellation, loop.now)
        perform { () throws(TableJob.Failure) in
            try TableJob.apply(batch, to: source, cancellation)
        } then: { [self] skippedReasons in
            for transaction in batch { count(transaction.skipped) }
            count(skippedReasons)
            (attempts, latest, keeping) = (0, nil, nil)
            feed?.confirm(last.position)
            refresh()
            gather(after: loop.now - began)
        } orElse: { [self] failure in
            if case .needsCopy(let reason) = failure {
                steps.removeAll(where: \.isTransaction)
                feed?.copyAgain(reason)
            } else {
                steps.insert(contentsOf: batch.map { .transaction($0) }, at: 0)
                retry(failure) {}
            }
        }
    }

    /// Waits before the next transactions are applied if the last took long: the more are applied together,
    /// the less a change costs, and processors are left to queries.
    private func gather(after milliseconds: UInt64) {
        guard milliseconds > Self.quickMilliseconds else { return }
        gathering = Timer(on: loop, delay: min(3 * milliseconds, Self.longestPause)) { [weak self] in
            self?.gathering = nil
            self?.advance()
        }
    }

    func keep(_ position: FeedPosition) {
        let (source, cancellation) = (source, ending.cancellation)
        perform { () throws(TableJob.Failure) in
            try TableJob.converted { () throws(SourceError) in try source.keepMark(cancellation) }
        } then: { [self] _ in
            attempts = 0
            feed?.confirm(position)
        } orElse: { [self] failure in
            steps.insert(.mark(position), at: 0)
            retry(failure) {}
        }
    }
}
