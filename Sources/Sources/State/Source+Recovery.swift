// SPDX-License-Identifier: MIT
import Aggregates
import JSON
import SourceStorage
import SystemSupport

extension Source {
    /// A source as its directory has it: the snapshot's data, to be followed by `replay`.
    ///
    /// Where there is nothing good it is a source that answers nothing but what is wrong with it.
    package static func open(
        _ name: SourceName, in directory: StateDirectory, shared: SharedState
    ) throws(SourceError) -> (source: Source, recovered: RecoveredSource?) {
        let path = directory.directory(of: name)
        do throws(StateDamage) {
            let recovered = try RecoveredSource.read(path, shared: shared, checkingText: false)
            let description = recovered.snapshot.description
            guard description.source == name.text else {
                throw StateDamage("\(path) has the files of the source '\(description.source)'")
            }
            let identity = SourceIdentity(
                name: name, owner: description.owner, createdAt: description.createdAt)
            let files = SourceFiles(directory: path, identity: identity, recovered.contents)
            let source = Source(
                identity, recovered.snapshot.revision, updatedAt: description.updatedAt, files: files,
                shared: shared)
            shared.raiseRevision(to: recovered.newestRevision)
            return (source, recovered)
        } catch {
            let identity = SourceIdentity(name: name, owner: nil, createdAt: .now)
            let source = Source(
                identity, try .empty(options: SourceOptions(), shared: shared), updatedAt: .now, files: nil,
                shared: shared, damage: error.message)
            shared.report(StateEvent(gravity: .error, source: name.text, message: error.message))
            return (source, nil)
        }
    }

    /// Makes the changes that followed the snapshot, by the way they came.
    ///
    /// To be called before anybody else has the source, and after all sources' revisions are known, since
    /// these changes draw new ones.
    package func replay(_ recovered: RecoveredSource) {
        guard let files else { return }
        let start = ContinuousClock.now
        do throws(SourceError) {
            try files.replaying { () throws(SourceError) in
                for change in recovered.changes { try make(change) }
            }
            files.tookReplay(milliseconds: (ContinuousClock.now - start) / .milliseconds(1))
            if let loss = recovered.loss { try keepOlder(files, loss) }
        } catch {
            // Text that turned out to be damaged was reported already.
            if case .damaged = error { return recoverAgain() }
            let message = "its journal can't be replayed: \(error.description)"
            _ = setDamage(message)
            report(.error, message)
            return
        }
        for note in recovered.notes where recovered.loss == nil { report(.warning, note) }
        if files.wantsSnapshot || recovered.isPatched { saveLater() }
    }

    private func make(_ change: JournalRecord.Entry) throws(SourceError) {
        switch change.record {
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

    private static func identifiers(_ text: [UInt8]) throws(SourceError) -> [FeatureIdentifier] {
        guard case .array(let values)? = try? JSONReader.parse(text) else {
            throw .defect("a record's ids are no array")
        }
        return values.compactMap { FeatureIdentifier($0) }
    }

    /// Older data are served: from now on these are the source's, so that changes of them can be kept.
    private func keepOlder(_ files: SourceFiles, _ loss: String) throws(SourceError) {
        let message = "older data are served, as of \(updatedAt.text): \(loss)"
        _ = setDamage(nil, note: message)
        report(.error, message)
        try publish(revision.renumbered(), at: updatedAt)
        try files.replace(with: revision, updatedAt: updatedAt)
    }

    /// Marks the source as damaged in its text and looks for an older snapshot; the error for callers.
    package func reportDamage() -> SourceError {
        let message = "\(files?.newestSnapshot ?? "its snapshot") is damaged in its features"
        if setDamage(message) {
            report(.error, message)
            // A replay looks for itself, once it has ended.
            if files?.isReplaying != true { shared.background.async { [self] in recoverAgain() } }
        }
        return .damaged(name, message)
    }

    /// Replaces data that turned out to be damaged by what older files give, if any.
    private func recoverAgain() {
        guard let files else { return }
        try? inTurn { () throws(SourceError) in
            let recovered: RecoveredSource
            do throws(StateDamage) {
                recovered = try RecoveredSource.read(files.directory, shared: shared, checkingText: true)
            } catch {
                _ = setDamage(error.message)
                report(.error, error.message)
                return
            }
            files.adopt(recovered.contents)
            // Nobody is to see data before all changes have been made to them.
            let other = Source(
                files.identity, recovered.snapshot.revision.renumbered(),
                updatedAt: recovered.snapshot.description.updatedAt, files: files, shared: shared)
            shared.memory.whileRecovering { other.replay(recovered) }
            let outcome = other.description
            guard outcome.damage == nil else {
                _ = setDamage(outcome.damage)
                return
            }
            try publish(outcome.revision, at: outcome.updatedAt)
            _ = setDamage(nil, note: outcome.note)
        }
    }

    private func report(_ gravity: StateEvent.Gravity, _ message: String) {
        shared.report(StateEvent(gravity: gravity, source: name.text, message: message))
    }
}
