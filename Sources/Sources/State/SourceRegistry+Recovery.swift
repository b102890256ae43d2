// SPDX-License-Identifier: MIT
import Aggregates
import Dispatch
import GeoJSON
import SourceStorage
import Synchronization
import SystemSupport

extension SourceRegistry {
    /// Takes up all sources that the state directory has, before anybody asks for one.
    ///
    /// Blocks for as long as it takes to compare the indexes' checksums and to replay the journals, on all
    /// cores; the features' text is checked afterwards in the background.
    public func recover() throws(SourceError) {
        guard let directory = shared.directory else { return }
        do throws(StateDamage) {
            shared.raiseRevision(to: try directory.lastRevision)
        } catch {
            shared.report(StateEvent(gravity: .warning, source: nil, message: error.message))
        }
        let (names, others) = try directory.names()
        for name in others {
            let message = "\(directory.path)/sources/\(name) is no source's name; it is left alone"
            shared.report(StateEvent(gravity: .warning, source: nil, message: message))
        }
        let opened = Mutex<[(source: Source, recovered: RecoveredSource?)]>([])
        let failure = Mutex<SourceError?>(nil)
        DispatchQueue.concurrentPerform(iterations: names.count) { place in
            do throws(SourceError) {
                let result = try Source.open(names[place], in: directory, shared: shared)
                opened.withLock { $0.append(result) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
        let all = opened.withLock { $0 }
        DispatchQueue.concurrentPerform(iterations: all.count) { place in
            let (source, recovered) = all[place]
            if let recovered { shared.memory.whileRecovering { source.replay(recovered) } }
            source.verifyLater()
        }
        takeUp(all.map(\.source))
    }
}

extension Source {
    /// Checks the features' text in the background.
    fileprivate func verifyLater() {
        let revision = revision
        shared.background.async { [weak self] in
            guard let self, !self.isRetired else { return }
            if !revision.store.verifyText(isCancelled: { self.isRetired }), self.revision === revision {
                _ = self.reportDamage()
            }
        }
    }
}
