// SPDX-License-Identifier: MIT
import RPC
import Responses
import SourceEngine
import SystemSupport
import EventLoop
import GeoJSON
import Glibc
import JSON

/// Creates the sources that the configuration declares, fills them from their files, and refills them
/// completely when the files change. Queries see the previous data until then. Belongs to the loop's thread.
final class SourceFiller {
    private let loop: EventLoop
    private let registry: SourceRegistry
    private let log: Log
    private let threads: Int
    private var entries: [SourceName: DeclaredEntry] = [:]
    private var watchers: [String: DirectoryWatcher] = [:]
    private var settling: Timer?
    private var looking: Timer?
    private var running = 0
    private let ending = FillingEnd()
    /// Called whenever nothing is left to load.
    var onIdle: (() -> Void)?
    /// Called when a declared source has been read after a start.
    var onRead: (() -> Void)?
    /// By name, sources that are still being read after a start: what is to be done with them waits for that.
    private var reading: [SourceName: SourceObservation] = [:]
    /// Those of them that are no longer declared.
    private var undeclared: Set<SourceName> = []

    private var isEnding: Bool { ending.isEnding }

    /// The maximum number of files that are read at once.
    private static let maximumRunning = 2
    /// How long a file must be unchanged before it is read, in milliseconds.
    private static let settlingTime: UInt64 = 150
    /// The interval at which files without a watcher are checked, in milliseconds.
    private static let lookingTime: UInt64 = 5000

    init(loop: EventLoop, registry: SourceRegistry, log: Log, threads: Int) {
        self.loop = loop
        self.registry = registry
        self.log = log
        self.threads = threads
    }

    var isIdle: Bool { running == 0 && !entries.values.contains { $0.isWanted } }

    /// Whether a source without data is still waiting for its file to be read.
    var isFillingEmpty: Bool {
        entries.values.contains { entry in
            guard entry.isRunning || entry.isWanted, entry.declared.path != nil else { return false }
            return (try? registry.source(entry.declared.name))?.revision.hasData != true
        }
    }

    // MARK: Declarations

    /// Applies the current declarations: creates new sources, deletes those no longer declared, and applies
    /// changes to others.
    func apply(_ declared: [DeclaredSource]) {
        let names = Set(declared.map(\.name))
        for (name, _) in entries where !names.contains(name) { remove(name) }
        for source in declared {
            let entry = entries[source.name]
            guard entry?.declared != source || !exists(source.name) else { continue }
            add(source, replacing: entry)
        }
        watch()
        advance()
    }

    private func exists(_ name: SourceName) -> Bool { (try? registry.source(name)) != nil }

    private func remove(_ name: SourceName) {
        entries[name] = nil
        guard let source = try? registry.source(name) else { return }
        guard !source.isLoading else {
            undeclared.insert(name)
            return wait(for: source)
        }
        loop.compute { [registry] in
            Result { () throws(SourceError) in try registry.delete(name) }
        } completion: { [log] (outcome: Result<Void, SourceError>) in
            switch outcome {
            case .success:
                log.write(.notice, "the source is no longer declared, and deleted", ["source": .string(name.text)])
            // Somebody else has deleted it meanwhile.
            case .failure(.sourceNotFound): break
            case .failure(let error):
                log.write(
                    .warning, "the source is no longer declared, but cannot be deleted: \(error.description)",
                    ["source": .string(name.text)])
            }
        }
    }

    private func add(_ declared: DeclaredSource, replacing old: DeclaredEntry?) {
        let entry = DeclaredEntry(declared)
        entry.isRunning = old?.isRunning ?? false
        entries[declared.name] = entry
        undeclared.remove(declared.name)
        if let source = try? registry.source(declared.name), source.isLoading { return wait(for: source) }
        var isNew = false
        do throws(SourceError) {
            let options = try SourceOptions(reading: declared.options)
            if try Self.emptyDamaged(declared, registry) {
                warnOfDamage(declared)
                isNew = true
            } else if declared.image == nil, (try? registry.source(declared.name))?.image != nil {
                // It is not declared as an image any more.
                try registry.recreate(declared.name, options: options)
                isNew = true
            } else if declared.image != nil, exists(declared.name) {
                entry.changesOptions = false
            } else if let source = try? registry.source(declared.name) {
                // A follower of a table changes the options itself before it continues.
                entry.changesOptions = declared.postgres == nil && source.revision.options.json != options.json
            } else {
                _ = try registry.create(declared.name, options: options)
                isNew = true
            }
        } catch { return complain(declared, error) }
        let isSameFile =
            old?.declared.path == declared.path && old?.declared.skipsInvalid == declared.skipsInvalid
            && old?.declared.wrapsLongitudes == declared.wrapsLongitudes && old?.declared.columns == declared.columns
        if isSameFile, !isNew, let old {
            entry.stamp = old.stamp
            entry.isWanted = old.isWanted || entry.changesOptions
        } else {
            entry.isWanted = declared.path != nil || entry.changesOptions
        }
    }

    /// Empties a source whose stored data are damaged if it can be filled again.
    ///
    /// - Returns: whether it did.
    private static func emptyDamaged(
        _ declared: DeclaredSource, _ registry: SourceRegistry
    ) throws(SourceError) -> Bool {
        guard declared.path != nil || declared.postgres != nil,
            let source = try? registry.source(declared.name), source.description.state == .damaged
        else { return false }
        try registry.recreate(declared.name, options: SourceOptions(reading: declared.options))
        return true
    }

    private func warnOfDamage(_ declared: DeclaredSource) {
        log.write(
            .warning, "the declared source's kept data are damaged, and it is filled again",
            ["source": .string(declared.name.text)])
    }

    // MARK: Sources that are still being read

    /// Goes on with a source once it has been read. No thread waits for it, since its disk may not answer.
    private func wait(for source: Source) {
        let name = source.name
        let over = LoopBound { [weak self] in self?.wasRead(name) }
        let look: @Sendable () -> Void = { [remote = loop.remote] in remote.post { over.value() } }
        reading[name] = source.observe(look)
        // It may have been read while the observation was made.
        if !source.isLoading { look() }
    }

    /// A source has been opened.
    private func wasRead(_ name: SourceName) {
        guard reading.removeValue(forKey: name) != nil, !isEnding else { return }
        if let source = try? registry.source(name), source.isLoading { return wait(for: source) }
        if undeclared.remove(name) != nil { return remove(name) }
        guard let declared = entries[name]?.declared else { return }
        loop.compute { [registry] in
            (try? Self.emptyDamaged(declared, registry)) ?? false
        } completion: { [weak self] wasDamaged in
            guard let self, !self.isEnding else { return }
            if wasDamaged { self.warnOfDamage(declared) }
            // Nothing is known of it that a change of the declaration meanwhile could be compared with.
            guard self.entries[name]?.declared == declared else { return }
            self.add(declared, replacing: nil)
            self.advance()
            self.onRead?()
        }
    }

    private func complain(_ declared: DeclaredSource, _ error: SourceError) {
        log.write(
            .warning, "the declared source could not be filled: \(error.description)",
            ["source": .string(declared.name.text), "file": declared.path.map { .string($0) } ?? .null])
    }

    // MARK: Watching

    private func watch() {
        let watched = entries.values.filter { $0.declared.watches }.compactMap(\.declared.path)
        let directories = Set(watched.map { Configuration.directory(of: $0) })
        watchers = watchers.filter { directories.contains($0.key) }
        for directory in directories where watchers[directory] == nil {
            // If the directory cannot be watched, the periodic check has to suffice.
            watchers[directory] = try? DirectoryWatcher(on: loop, path: directory) { [weak self] in self?.settle() }
        }
        guard !watched.isEmpty else {
            looking = nil
            return
        }
        guard looking == nil else { return }
        looking = Timer(on: loop, delay: Self.lookingTime, every: Self.lookingTime) { [weak self] in self?.look() }
        looking?.unreference()
    }

    /// Something changed: waits, so that the writer can finish the file.
    private func settle() {
        settling = Timer(on: loop, delay: Self.settlingTime) { [weak self] in
            self?.settling = nil
            self?.look()
        }
        settling?.unreference()
    }

    private func look() {
        guard !isEnding else { return }
        for entry in entries.values where entry.declared.watches && !entry.isWanted && !entry.isRunning {
            guard let file = entry.declared.path, let stamp = FileStamp(file), stamp != entry.stamp else {
                continue
            }
            entry.isWanted = true
        }
        watch()
        advance()
    }

    // MARK: Filling

    private func advance() {
        let ready = entries.values.filter { $0.isWanted && !$0.isRunning }
            .sorted { $0.declared.name < $1.declared.name }
        for entry in ready {
            guard running < Self.maximumRunning, !isEnding else { return }
            fill(entry)
        }
    }

    private func fill(_ entry: DeclaredEntry) {
        let declared = entry.declared
        entry.isWanted = false
        entry.isRunning = true
        let changesOptions = entry.changesOptions
        entry.changesOptions = false
        entry.stamp = declared.path.flatMap { FileStamp($0) }
        running += 1
        let (cancellation, began) = (ending.cancellation, MonotonicClock.now())
        loop.compute(isLong: true) { [registry, threads] in
            Result { () throws(SourceError) in
                try Self.fill(
                    try registry.source(declared.name), declared, changesOptions: changesOptions, threads, cancellation)
            }
        } completion: { [weak self] (outcome: Result<ImportOutcome?, SourceError>) in
            if case .failure = outcome, changesOptions { entry.changesOptions = true }
            self?.finished(declared, outcome, MonotonicClock.now() - began)
        }
    }

    private static func fill(
        _ source: Source, _ declared: DeclaredSource, changesOptions: Bool, _ threads: Int, _ cancellation: Cancellation
    ) throws(SourceError) -> ImportOutcome? {
        if changesOptions {
            _ = try source.update(options: try SourceOptions(reading: declared.options), cancellation)
        }
        // The file is read after a change of options too: features that the previous filter left out are only
        // in the file.
        guard let path = declared.path else { return nil }
        let file: FileDescriptor
        do throws(FileError) { file = try FileDescriptor(reading: path) } catch {
            throw .unreadableInput(error.description)
        }
        if declared.image != nil { return try source.attach(file, cancellation) }
        let load = FeatureImport(
            into: source, mode: .replace, policy: declared.skipsInvalid ? .skip : .reject,
            format: FeatureFormat(table: declared.columns), wrapsLongitudes: declared.wrapsLongitudes)
        try load.read(file, threads: threads, cancellation)
        return try load.finish(cancellation)
    }

    private func finished(
        _ declared: DeclaredSource, _ result: Result<ImportOutcome?, SourceError>, _ nanoseconds: UInt64
    ) {
        running -= 1
        entries[declared.name]?.isRunning = false
        switch result {
        case .success(let outcome?):
            log.write(
                .info, "the declared source is filled",
                [
                    "source": .string(declared.name.text),
                    "points": .number(Double(outcome.description.revision.pointCount)),
                    "skipped": .number(Double(outcome.skipped)), "ms": .number(Double(nanoseconds / 1_000_000)),
                ])
            for warning in outcome.warnings {
                log.write(.warning, warning, ["source": .string(declared.name.text)])
            }
        case .success(nil): break
        case .failure(.cancelled) where isEnding: break
        case .failure(let error): complain(declared, error)
        }
        // Detects changes made while the file was read.
        look()
        if isIdle { onIdle?() }
    }

    /// Starts no more work.
    func end() {
        ending.begin()
        watchers = [:]
        looking = nil
        settling = nil
        reading = [:]
    }
}
