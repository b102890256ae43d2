// SPDX-License-Identifier: MIT
import Dispatch
import GeoJSON
import SystemSupport

extension Source {
    /// Whether features may have expired, by the option `ttlSeconds`. Never waits.
    package func mayExpire(at now: Timestamp) -> Bool {
        guard let limit = revision.expiryLimit(at: now) else { return false }
        return oldest.map { $0 <= limit } ?? true
    }

    /// Removes expired features. Blocks: only for threads of the pool.
    ///
    /// - Complexity: that of an update of these if there are any, else O(the delta).
    package func expire(at now: Timestamp) throws(SourceError) {
        guard let limit = revision.expiryLimit(at: now) else { return }
        let base = revision
        let (rows, next) = base.store.rows(notAfter: limit)
        guard !rows.isEmpty else { return setOldest(next ?? now.milliseconds, in: base) }
        do throws(SourceError) { try expire(notAfter: limit, at: now) } catch {
            setOldest(limit + Self.retryMilliseconds, in: base)
            throw error
        }
    }

    /// The delay before the next attempt after features could not be removed.
    private static let retryMilliseconds: Int64 = 60_000

    /// A moment, in milliseconds since 1970, before which no feature was inserted; nil if unknown.
    package var oldest: Int64? { state.withLock { $0.oldest } }

    /// Sets `oldest`, unless the revision is no longer the current one.
    package func setOldest(_ moment: Int64, in revision: Revision) {
        state.withLock { if $0.revision === revision { $0.oldest = moment } }
    }

    /// Removes all features inserted at a moment or earlier, as a call of `UpdateFeatures` would.
    package func expire(notAfter limit: Int64, at moment: Timestamp) throws(SourceError) {
        let update = FeatureUpdate(expiry: limit)
        _ = try change(.never) { (base) throws(SourceError) -> Change in
            let made = try update.apply(to: base, owner: owner, views: viewCompletion, spill: updateSpill, .never)
            return Change(
                revision: made.revision, keeping: .record(.expiry(limit)),
                changedRows: made.changedRows(in: base), moment: moment)
        }
    }
}

extension Revision {
    /// Features inserted at this moment or earlier have expired, in milliseconds since 1970; nil if none has.
    func expiryLimit(at now: Timestamp) -> Int64? {
        guard let seconds = options.ttlSeconds else { return nil }
        let now = shared.clock.trusted(now)
        return now.milliseconds - (Int64(exactly: (seconds * 1000).rounded()) ?? .max / 2)
    }
}

extension SourceRegistry {
    /// Removes all expired features. Blocks: only before serving.
    ///
    /// If the removal cannot be stored, the features of that source stay, and the error is reported.
    public func expire(at now: Timestamp = .now) {
        for source in all where source.mayExpire(at: now) { expire(source, now) }
    }

    /// Does the same in the background for each source separately, so that a hanging disk delays no other source. Also
    /// retries to read what the machine could not read. O(sources); never waits.
    public func expireInBackground(at now: Timestamp = .now) {
        retryUnavailable()
        if let directory = shared.directory, directory.hasLeftovers {
            shared.undoing.async { directory.takeBackLeftovers() }
        }
        for source in all where source.mayExpire(at: now) {
            source.jobs.run(.expire) { [self] in expire(source, now) }
        }
    }

    /// Removes a source's expired features. An error is reported.
    func expire(_ source: Source, _ now: Timestamp) {
        do throws(SourceError) { try source.expire(at: now) } catch {
            switch error {
            case .sourceNotFound, .damaged, .unavailable: return
            default:
                let message = "expired features cannot be removed: \(error.description)"
                shared.report(StateEvent(gravity: .warning, source: source.name.text, message: message))
            }
        }
    }
}
