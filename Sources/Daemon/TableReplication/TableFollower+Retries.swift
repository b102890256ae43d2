// SPDX-License-Identifier: MIT
import EventLoop
import PostgresFeed
import SourceEngine

/// Retries failed work. Changes that were not applied stay queued here, and the server keeps the rest.
extension TableFollower {
    /// Retries after a delay that grows; what was not applied is retained, and so is the server's log.
    func retry(_ failure: TableJob.Failure, _ again: @escaping () -> Void) {
        guard case .source(let error) = failure else { return }
        if case .sourceNotFound = error { return }
        attempts += 1
        if !isRetried {
            log.write(
                .error, "changes of the table can't be applied, which is tried again: \(error.description)",
                fields)
        }
        isRetried = true
        status.note = "changes of the table can't be applied: \(error.description)"
        status.state = .waiting
        refresh()
        let delay = min(30_000, 500 << min(attempts, 6))
        retrying = Timer(on: loop, delay: UInt64(delay)) { [weak self] in
            self?.retrying = nil
            again()
            self?.advance()
        }
    }

    func endRetrying() {
        isRetried = false
        status.note = nil
        if let feed { take(feed.status.state) }
        log.write(.notice, "changes of the table are applied again", fields)
    }

    /// A copy could not be applied: makes another one later.
    func copyLater(_ failure: TableJob.Failure) {
        steps = []
        copy?.cancel()
        copy = nil
        switch failure {
        case .needsCopy(let reason): feed?.copyAgain(reason)
        case .source(let error):
            retry(failure) { [weak self] in
                self?.isRetried = false
                self?.feed?.copyAgain("the last copy could not be taken over: \(error.description)")
            }
        }
    }
}
