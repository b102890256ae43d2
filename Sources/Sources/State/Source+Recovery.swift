// SPDX-License-Identifier: MIT
import Clustering
import Dispatch
import GeoJSON
import Glibc
import JSON
import SourceStorage
import SystemSupport

extension Source {
    /// Opens a source from its directory, with the snapshot's data. The caller then calls `replay`. Nil for a
    /// directory whose creation was never answered.
    ///
    /// If no file is usable, the source answers every call with the error.
    package static func open(
        _ name: SourceName, in directory: StateDirectory, shared: SharedState
    ) throws(SourceError) -> (source: Source, recovered: RecoveredSource?)? {
        let path = directory.directory(of: name)
        do throws(StateFault) {
            guard let recovered = try read(path, name, shared) else {
                directory.discard(name)
                return nil
            }
            let description = recovered.snapshot.description
            let identity = SourceIdentity(
                name: name, owner: description.owner, createdAt: description.createdAt)
            let files = SourceFiles(
                directory: path, identity: identity, recovered.apply(directory, name))
            let source = Source(
                identity, recovered.snapshot.revision, updatedAt: description.updatedAt, files: files,
                shared: shared, note: description.loss)
            shared.raiseRevision(to: recovered.newestRevision)
            return (source, recovered)
        } catch {
            let identity = SourceIdentity(name: name, owner: nil, createdAt: .now)
            let source = Source(
                identity, try .empty(options: SourceOptions(), shared: shared), updatedAt: .now, files: nil,
                shared: shared, fault: error)
            shared.report(StateEvent(gravity: .error, source: name.text, message: error.message))
            return (source, nil)
        }
    }

    /// A source of which only the name is known until its files have been read.
    static func unread(_ name: SourceName, shared: SharedState) throws(SourceError) -> Source {
        let identity = SourceIdentity(name: name, owner: nil, createdAt: .now)
        return Source(
            identity, try .empty(options: SourceOptions(), shared: shared), updatedAt: identity.createdAt,
            files: nil, shared: shared, isStandIn: true, isLoading: true)
    }

    /// A source whose files cannot be read at all, instead of one that is loading.
    static func unreadable(_ other: Source, _ error: SourceError, shared: SharedState) -> Source {
        let identity = SourceIdentity(name: other.name, owner: other.owner, createdAt: other.createdAt)
        // The files may be good.
        let fault = StateFault(FileError.unusable("\(other.name.text) can't be read: \(error.description)"))
        return Source(
            identity, other.revision, updatedAt: other.updatedAt, files: nil, shared: shared, fault: fault)
    }

    /// How often a start tries to read files after a fault of the machine.
    private static let attempts: UInt32 = 3

    /// Reads a source's files; nil if no call that created them was answered. Retries after a fault of the
    /// machine.
    private static func read(
        _ path: String, _ name: SourceName, _ shared: SharedState
    ) throws(StateFault) -> RecoveredSource? {
        for attempt in 1...attempts {
            do throws(StateFault) {
                let files = try FoundFiles(path)
                if !files.snapshots.isEmpty, try files.uncommitted().isSuperset(of: files.snapshots) {
                    return nil
                }
                let recovered = try RecoveredSource.read(path, shared: shared, checking: false)
                let found = recovered.snapshot.description.source
                guard found == name.text else {
                    throw StateFault("\(path) has the files of the source '\(found)'")
                }
                return recovered
            } catch {
                guard error.kind == .machine, attempt < attempts else { throw error }
                usleep(attempt * 20_000)
            }
        }
        return nil
    }

    /// Replays the changes after the snapshot, each as the call that made it.
    ///
    /// Must be called before the source is published. Replayed changes draw new revision numbers, above all
    /// in this source's files.
    package func replay(_ recovered: RecoveredSource) {
        guard let files else { return }
        let start = ContinuousClock.now
        do throws(SourceError) {
            var omitted = 0
            try shared.memory.whileRecovering { () throws(SourceError) in
                try files.replaying { () throws(SourceError) in omitted = try makeChanges(recovered) }
            }
            files.tookReplay(milliseconds: (ContinuousClock.now - start) / .milliseconds(1))
            if recovered.plan.isComplete {
                settle(files)
            } else {
                shared.memory.whileRecovering { startOver(files, loss(recovered.plan, omitted)) }
            }
        } catch {
            // Damaged text has already been reported.
            if case .damaged = error { return recoverAgain() }
            let fault = StateFault("its journal can't be replayed: \(error.description)")
            _ = setFault(fault)
            report(.error, fault.message)
            return
        }
        for note in recovered.plan.notes where !recovered.plan.isLossy { report(.warning, note) }
        if recovered.plan.isComplete, let loss = files.loss { report(.warning, loss) }
        if files.wantsSnapshot(shared.limits) || recovered.plan.isPatched { saveLater() }
    }

    /// Makes the changes that were recovered.
    ///
    /// - Returns: how many could not be made because one before them is missing.
    private func makeChanges(_ recovered: RecoveredSource) throws(SourceError) -> Int {
        var omitted = 0
        for (number, change) in recovered.changes.enumerated() {
            do throws(SourceError) { try make(change) } catch {
                if case .damaged = error { throw error }
                guard number >= recovered.firstGap else { throw error }
                omitted += 1
            }
        }
        return omitted
    }

    /// What is missing from recovered data; nil if nothing is.
    private func loss(_ plan: RecoveryPlan, _ omitted: Int) -> String? {
        plan.loss.map { loss in
            guard plan.hasGap else { return "older data are served, from \(updatedAt.text): \(loss)" }
            let rest = omitted > 0 ? "; \(omitted) of these could not be made without them" : ""
            return "changes are missing, and later ones were made: \(loss)\(rest)"
        }
    }

    /// Makes a change as the call that made it before.
    func make(_ change: JournalRecord.Entry) throws(SourceError) {
        switch change.record {
        case .progress: if let mark = change.mark { revision.follow(upTo: mark) }
        case .refill(let features): try follow(change, clears: true, features, removals: [])
        case .update(let upserts, let removals) where change.mark != nil:
            try follow(change, clears: false, upserts, removals: try Self.identifiers(removals))
        case .update(let upserts, let removals):
            let identifiers = try Self.identifiers(removals)
            _ = try upserts.withUnsafeBufferPointer { (text) throws(SourceError) in
                try update(
                    upserts: UnsafeRawBufferPointer(text), removals: identifiers,
                    at: change.moment, .never)
            }
        case .append(let features):
            let append = FeatureImport(into: self, mode: .append, policy: .reject, at: change.moment)
            try features.withUnsafeBufferPointer { (text) throws(SourceError) in
                try append.add(features: UnsafeRawBufferPointer(text))
            }
            _ = try append.finish(.never)
        case .options(let options):
            _ = try update(options: SourceOptions(reading: options), at: change.moment, .never)
        case .expiry(let limit): try expire(notAfter: limit, at: change.moment)
        }
    }

    private func follow(
        _ change: JournalRecord.Entry, clears: Bool, _ upserts: [UInt8], removals: [FeatureIdentifier]
    ) throws(SourceError) {
        guard let mark = change.mark else { throw .defect("a record has no position of its log") }
        _ = try follow(to: mark, at: change.moment, .never) { (step) throws(SourceError) in
            try step.add(LogChanges(clears: clears, upserts: upserts, removals: removals))
        }
    }

    private static func identifiers(_ text: [UInt8]) throws(SourceError) -> [FeatureIdentifier] {
        guard let identifiers = text.withUnsafeBytes({ FeatureIdentifier.list(json: $0) }) else {
            throw .defect("a record's ids are not an array of ids")
        }
        return identifiers
    }

    /// Keeps recovered data by a snapshot of their own: changes can't go on in the files that were found.
    ///
    /// - Parameter loss: what is missing; nil if nothing is.
    private func startOver(_ files: SourceFiles, _ loss: String?) {
        if let loss {
            _ = setFault(nil, note: loss)
            report(.error, loss)
        }
        do throws(SourceError) {
            // A snapshot holds what was built as a whole.
            let whole = try revision.isPlain ? revision.renumbered() : rebuild(revision)
            try publish(whole, at: updatedAt)
            let kept = try files.replace(with: whole, updatedAt: updatedAt, loss: loss ?? files.loss)
            move(from: whole, to: kept)
        } catch {
            // The data are served anyway. Changes are rejected until an import has written a snapshot.
            report(.error, "changes can't be kept: \(error.description)")
        }
    }

    /// Makes sure that the journal's records are on disk before the source is served.
    private func settle(_ files: SourceFiles) {
        do throws(SourceError) { try files.settle() } catch {
            // The next change tries again, and fails if that fails.
            report(.warning, "its journal can't be written yet: \(error.description)")
        }
    }

    /// Marks the source's text or index as damaged and starts to read the source again, from an older
    /// snapshot if the newest one is damaged. Returns the error for callers.
    package func reportDamage() -> SourceError {
        if let failure = revision.store.failure {
            let fault = StateFault(failure)
            if setFault(fault) { report(.error, fault.message) }
            return SourceError(fault, of: name)
        }
        let fault = StateFault("\(files?.newestSnapshot ?? "its snapshot") is damaged")
        if setFault(fault) {
            report(.error, fault.message)
            // A replay looks for an older snapshot itself when it has ended.
            if files?.isReplaying != true, !isStandIn { background.async { [self] in recoverAgain() } }
        }
        return SourceError(fault, of: name)
    }

    /// Lets the index by id be made again, and writes a new snapshot.
    ///
    /// - Parameter path: the file in which it is damaged.
    func replaceIdentifiers(of path: String) {
        try? withChangeLock { () throws(SourceError) in revision.forgetIdentifiers() }
        report(.warning, Snapshot.loss(of: path))
        saveLater()
    }

    /// Replaces damaged data by those of older files, if there are any.
    private func recoverAgain() {
        guard let files, let directory = shared.directory else { return }
        try? withChangeLock { () throws(SourceError) in
            let recovered: RecoveredSource
            do throws(StateFault) {
                recovered = try RecoveredSource.read(files.directory, shared: shared, checking: true)
            } catch {
                _ = setFault(error)
                report(.error, error.message)
                return
            }
            files.adopt(recovered.apply(directory, name))
            // The data must not be visible before all changes have been replayed.
            let other = Source(
                files.identity, recovered.snapshot.revision.renumbered(),
                updatedAt: recovered.snapshot.description.updatedAt, files: files, shared: shared,
                note: recovered.snapshot.description.loss, isStandIn: true)
            other.replay(recovered)
            let outcome = other.description
            guard outcome.fault == nil else {
                _ = setFault(outcome.fault)
                return
            }
            try publish(outcome.revision, at: outcome.updatedAt)
            _ = setFault(nil, note: outcome.note)
            compactIfGrown(outcome.revision)
            if files.wantsSnapshot(shared.limits) || recovered.plan.isPatched { saveLater() }
        }
    }

    private func report(_ gravity: StateEvent.Gravity, _ message: String) {
        shared.report(StateEvent(gravity: gravity, source: name.text, message: message))
    }
}
