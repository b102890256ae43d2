// SPDX-License-Identifier: MIT
import Aggregates
import SourceStorage
import SystemSupport

extension Source {
    /// Whether features may be too old now, by the option `ttlSeconds`; never waits.
    package func mayExpire(at now: Timestamp) -> Bool {
        guard let limit = expiryLimit(at: now) else { return false }
        return oldest.map { $0 <= limit } ?? true
    }

    /// Features put in at this moment or before are too old, in milliseconds since 1970; nil if none is.
    private func expiryLimit(at now: Timestamp) -> Int64? {
        guard let seconds = revision.options.ttlSeconds else { return nil }
        let now = shared.clock.trusted(now)
        return now.milliseconds - (Int64(exactly: (seconds * 1000).rounded()) ?? .max / 2)
    }

    /// Takes out the features that are too old. Blocks: only for threads of the pool.
    ///
    /// - Complexity: that of an update of these, if there are any; else the changes since the last build.
    package func expire(at now: Timestamp) throws(SourceError) {
        guard let limit = expiryLimit(at: now) else { return }
        let base = revision
        let (places, next) = base.store.places(notAfter: limit)
        guard !places.isEmpty else { return setOldest(next ?? now.milliseconds, in: base) }
        do throws(SourceError) { try expire(notAfter: limit, at: now) } catch {
            setOldest(limit + Self.retryMilliseconds, in: base)
            throw error
        }
    }

    /// After what time it is tried again where features could not be taken out.
    private static let retryMilliseconds: Int64 = 60_000

    /// Takes out all features put in at a moment or before, as a call of `UpdateFeatures` would.
    package func expire(notAfter limit: Int64, at moment: Timestamp) throws(SourceError) {
        let update = FeatureUpdate(expiry: limit)
        _ = try change(.never) { (base) throws(SourceError) -> Change in
            let (revision, plan) = try update.apply(to: base, owner: owner, .never)
            return Change(
                revision: revision, keeping: .record(.expiry(limit)),
                changedPlaces: plan.places(in: base, to: revision),
                moment: moment)
        }
    }
}

extension SourceRegistry {
    /// Takes out all features that are too old. Blocks: only before serving.
    ///
    /// If a source's cannot be taken out, because that cannot be written, they stay and it is reported.
    public func expire(at now: Timestamp = .now) {
        for source in all where source.mayExpire(at: now) { expire(source, now) }
    }

    /// Does the same in the background, each source by itself: one whose disk hangs delays no other. Also tries to read
    /// again what the machine could not read. A look at each source; never waits.
    public func expireInBackground(at now: Timestamp = .now) {
        retryUnavailable()
        if let directory = shared.directory, directory.hasLeftovers {
            shared.checks.async { directory.takeBackLeftovers() }
        }
        for source in all where source.mayExpire(at: now) && source.beginExpiring() {
            source.expiring.async { [self] in
                defer { source.endExpiring() }
                expire(source, now)
            }
        }
    }

    private func expire(_ source: Source, _ now: Timestamp) {
        do throws(SourceError) { try source.expire(at: now) } catch {
            switch error {
            case .sourceNotFound, .damaged, .unavailable: return
            default:
                let message = "features that are too old can't be taken out: \(error.description)"
                shared.report(StateEvent(gravity: .warning, source: source.name.text, message: message))
            }
        }
    }
}
