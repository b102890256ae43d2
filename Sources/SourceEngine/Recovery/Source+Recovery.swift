// SPDX-License-Identifier: MIT
import Clustering
import Dispatch
import GeoJSON
import Glibc
import ImageStore
import JSON
import SystemSupport

extension Source {
    /// A source as its files have it, for `adopt`. It is in no registry.
    package struct Opened: Sendable {
        package let source: Source
        /// Whether a new snapshot is to be written: some file is damaged, or replaying clusters the source as a whole.
        let wantsSnapshot: Bool
    }

    /// Opens a source's files: the newest intact snapshot, with the changes that follow it made again.
    ///
    /// - Parameters:
    ///   - files: those of the source that is served, to be continued; nil for a source that was not open.
    ///   - isLive: whether its revisions have been served, so that their numbers must not be used again.
    ///   - checking: whether to verify all of a snapshot before using it.
    /// - Returns: a source whose life is `opening`, or `faulted` if no file is usable; nil for a directory whose
    ///   creation was never answered.
    package static func open(
        _ name: SourceName, in directory: StateDirectory, shared: SharedState, continuing files: SourceFiles? = nil,
        isLive: Bool = false, checking: Bool = false
    ) throws(SourceError) -> Opened? {
        let path = directory.directory(of: name)
        let found: RecoveredSource?
        do throws(StateFault) {
            if let attachment = try Attachment(in: path) {
                Attachment.removeOthers(in: path)
                return Opened(source: try attachment.open(name, shared: shared), wantsSnapshot: false)
            }
            found = try read(path, name, shared, checking: checking)
        } catch {
            shared.report(StateEvent(gravity: .error, source: name.text, message: error.message))
            return Opened(source: try empty(name, .faulted(error), shared), wantsSnapshot: false)
        }
        guard let found else {
            directory.discard(name)
            return nil
        }
        let description = found.snapshot.description
        let identity = SourceIdentity(name: name, owner: description.owner, createdAt: description.createdAt)
        let contents = found.apply(directory, name)
        files?.adopt(contents)
        let files = files ?? SourceFiles(directory: path, identity: identity, contents)
        let revision = isLive ? found.snapshot.revision.renumbered() : found.snapshot.revision
        let source = Source(
            identity, revision, updatedAt: description.updatedAt, files: files, shared: shared, life: .opening,
            note: description.loss)
        shared.raiseRevision(to: found.newestRevision)
        guard source.replay(found) || checking else {
            return try open(name, in: directory, shared: shared, continuing: files, isLive: isLive, checking: true)
        }
        return Opened(source: source, wantsSnapshot: found.plan.isPatched || found.hasOptions)
    }

    /// A source of which only the name is known until its files have been read.
    static func unread(_ name: SourceName, shared: SharedState) throws(SourceError) -> Source {
        try empty(name, .opening, shared)
    }

    private static func empty(_ name: SourceName, _ life: Life, _ shared: SharedState) throws(SourceError) -> Source {
        let identity = SourceIdentity(name: name, owner: nil, createdAt: .now)
        return Source(
            identity, try .empty(options: SourceOptions(), shared: shared), updatedAt: identity.createdAt,
            files: nil, shared: shared, life: life)
    }

    /// How often a start tries to read files after a fault of the machine.
    private static let attempts: UInt32 = 3

    /// Reads a source's files; nil if no call that created them was answered. Retries after a fault of the machine.
    private static func read(
        _ path: String, _ name: SourceName, _ shared: SharedState, checking: Bool
    ) throws(StateFault) -> RecoveredSource? {
        for attempt in 1...attempts {
            do throws(StateFault) {
                let files = try FoundFiles(path)
                if !files.snapshots.isEmpty, try files.uncommitted().isSuperset(of: files.snapshots) {
                    return nil
                }
                let recovered = try RecoveredSource.read(path, shared: shared, checking: checking)
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
    /// Replayed changes draw new revision numbers, above all in this source's files.
    ///
    /// - Returns: false if what it read is damaged, so that older files may be better.
    private func replay(_ recovered: RecoveredSource) -> Bool {
        guard let files else { return true }
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
            if case .damaged = error { return false }
            let fault = StateFault("its journal can't be replayed: \(error.description)")
            if fail(fault) { report(.error, fault.message) }
            return true
        }
        for note in recovered.plan.notes where !recovered.plan.isLossy { report(.warning, note) }
        if recovered.plan.isComplete, let loss = files.loss { report(.warning, loss) }
        return true
    }

    /// Makes the changes that were recovered.
    ///
    /// - Returns: how many could not be made because one before them is missing.
    private func makeChanges(_ recovered: RecoveredSource) throws(SourceError) -> Int {
        var omitted = 0
        let checkpointed = beginCheckpointed(recovered)
        var rest = recovered.changes[...]
        while let change = rest.first {
            let number = rest.startIndex
            if number == checkpointed, number > 0 { try endCheckpointed() }
            // Those of a checkpoint are made one by one, since its clusters have the numbers of their points.
            let together =
                number < checkpointed ? rest.prefix(0) : manyChanges(rest.prefix(max(0, recovered.firstGap - number)))
            rest = rest.dropFirst(max(1, together.count))
            do throws(SourceError) {
                if together.count > 1 { try follow(together) } else { try make(change) }
            } catch {
                if case .damaged = error { throw error }
                guard number >= recovered.firstGap else { throw error }
                omitted += 1
            }
        }
        if checkpointed > 0, checkpointed == recovered.changes.count { try endCheckpointed() }
        try completeViews()
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
        case .progress: advance(change)
        case .refill(let features):
            try follow(change, LogChanges(clears: true, upserts: features, removals: []))
        case .update(let upserts, let removals) where change.mark != nil:
            try follow(change, LogChanges(upserts: upserts, removals: try Self.identifiers(removals)))
        case .update(let upserts, let removals):
            let identifiers = try Self.identifiers(removals)
            _ = try update(upserts: upserts, removals: identifiers, at: change.moment, .never)
        case .append(let features):
            let append = FeatureImport(into: self, mode: .append, policy: .reject, at: change.moment)
            try append.add(features: features)
            _ = try append.finish(.never)
        case .options(let options):
            _ = try update(options: SourceOptions(reading: options), at: change.moment, .never)
        case .expiry(let limit): try expire(notAfter: limit, at: change.moment)
        }
    }

    /// Makes the change of a record that has only a position.
    private func advance(_ change: JournalRecord.Entry) {
        guard let mark = change.mark else { return }
        let revision = revision
        guard let log = try? revision.log(of: change.feed, at: mark) else { return }
        revision.follow(revision.logs.advanced(to: log))
    }

    static func identifiers(_ text: [UInt8]) throws(SourceError) -> [FeatureIdentifier] {
        guard let identifiers = FeatureIdentifier.list(json: text) else {
            throw .defect("a record's ids are not an array of ids")
        }
        return identifiers
    }

    /// Keeps recovered data by a snapshot of their own: changes can't go on in the files that were found.
    ///
    /// - Parameter loss: what is missing; nil if nothing is.
    private func startOver(_ files: SourceFiles, _ loss: String?) {
        if let loss {
            state.withLock { $0.note = loss }
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

    /// Marks the source's text or index as damaged and starts to read the source again, from an older snapshot if the
    /// newest one is damaged. Returns the error for callers.
    package func reportDamage() -> SourceError {
        let failure = revision.store.failure.map { StateFault($0) }
        let fault = failure ?? StateFault("\(files?.newestSnapshot ?? image ?? "its snapshot") is damaged")
        let wasServing = state.withLock { $0.isServing }
        if fail(fault) {
            report(.error, fault.message)
            // Who opens a source looks for an older snapshot itself.
            if failure == nil, wasServing { reopenLater() }
        }
        return SourceError(fault, of: name)
    }

    /// Lets the index by id be made again, and writes a new snapshot.
    ///
    /// - Parameter path: the file in which it is damaged.
    private func replaceIdentifiers(of path: String) {
        try? withChangeLock { () throws(SourceError) in revision.forgetIdentifiers() }
        report(.warning, Snapshot.loss(of: path))
        saveLater()
    }

    /// Opens the files of a source whose data are unavailable again, in the background: older ones after damage,
    /// the same ones after a fault of the machine.
    func reopenLater() { jobs.run(.reopen) { [self] in reopen() } }

    private func reopen() {
        guard let directory = shared.directory, let fault else { return }
        let found = try? withChangeLock { () throws(SourceError) -> Opened? in
            // The data must not be visible before all changes have been replayed.
            let opened = try Source.open(
                name, in: directory, shared: shared, continuing: files, isLive: true, checking: fault.kind == .damage)
            guard let opened, fault.kind == .damage || opened.source.fault == nil, adopt(opened.source) else {
                return nil
            }
            return opened
        }
        guard let opened = found else { return }
        if fault.kind == .machine { report(.information, "its files can be read again") }
        maintain(opened)
    }

    /// Begins the work in the background of a source that has just been opened.
    func maintain(_ opened: Opened) {
        // An image of others is verified when it is read: reading all of it would push out what queries need.
        guard image == nil else { return }
        compactIfGrown(revision)
        if opened.wantsSnapshot { saveLater() } else { saveIfWorthwhile() }
        let store = revision.store
        // Otherwise opening it has reported that.
        let isWhole = store.lacksIdentifiers == nil
        shared.checks.async { [weak self] in
            guard let self, !self.isRetired else { return }
            let isGood = store.verifyText { self.giveWay() }
            if !isGood, self.revision.store === store { return _ = self.reportDamage() }
            if isWhole, let path = store.lacksIdentifiers { self.replaceIdentifiers(of: path) }
        }
    }

    /// Waits while changes need the disk, but only for so long. False once the source has been deleted.
    private func giveWay() -> Bool {
        for _ in 0..<Self.mostPauses where changeCount.load(ordering: .relaxed) > 0 { usleep(5000) }
        return !isRetired
    }

    private static let mostPauses = 10

    func report(_ gravity: StateEvent.Gravity, _ message: String) {
        shared.report(StateEvent(gravity: gravity, source: name.text, message: message))
    }
}
