// SPDX-License-Identifier: MIT
import Aggregates
import Clustering
import Glibc
import ImageStore
import Synchronization
import SystemSupport

/// Where a daemon keeps its sources: `sources/NAME/` for each, and a lock that keeps a second daemon off.
public final class StateDirectory: Sendable {
    /// Without links: if the operator's path leads through one, a later change of it has no effect on a running daemon.
    public let path: String
    private let lock: FileDescriptor
    /// By source, what a failed call has left behind because the clean-up failed too.
    let leftovers = Mutex<[SourceName: Leftover]>([:])
    /// Held while directories of sources are created, renamed or removed.
    private let naming = FairLock()

    enum Leftover {
        /// The directory of a served source, under the name that a failed deletion gave it.
        case moved(String)
        /// The directory of a source whose creation failed, with the journal that began it.
        case begun(JournalWriter?)
    }

    /// Why a directory cannot be used, for the operator.
    public struct Problem: Error, Sendable, Equatable, CustomStringConvertible { public let description: String }

    /// Creates the directory if it does not exist, and takes its lock, which is released with this object or
    /// the process.
    public init(_ path: String) throws(Problem) {
        do throws(SourceError) {
            try onDisk(try FileIO.makeDirectory(path))
            guard let path = FileSystem.resolve(path), !path.isEmpty else {
                throw .stateNotWritable("\(path) leads to no directory; name one that the daemon may write")
            }
            self.path = path
            try onDisk(try FileIO.makeDirectory(path + "/sources"))
            lock = try onDisk(try FileIO.open(path + "/lock", O_RDWR | O_CREAT))
            // The new directory must survive a power loss, since everything else is in it.
            try onDisk(try FileIO.syncDirectory(path))
            // A parent directory of the service manager may not be readable.
            try? FileIO.syncDirectory(path + "/..")
        } catch {
            throw Problem(description: "the state directory: \(error.description)")
        }
        guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
            let message =
                errno == EWOULDBLOCK
                ? "another clusterd keeps its sources there\(Self.holder(of: lock)). Stop it, or choose another --state-dir."
                : String(cString: strerror(errno))
            throw Problem(description: "cannot lock the state directory \(path): \(message)")
        }
        Self.write(getpid(), to: lock)
    }

    /// Removes leftovers of calls that were never answered, and of completed deletions.
    package func removeLeftovers() {
        for name in (try? FileIO.names(in: sources)) ?? [] where name.hasPrefix(".") {
            FileIO.removeDirectory(sources + "/" + name)
        }
    }

    /// Problems with the directory's owner and mode, for the operator.
    package var concerns: [String] {
        [path, sources].compactMap { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            if status.st_uid != geteuid(), status.st_uid != 0 {
                return
                    "\(path) belongs to user \(status.st_uid), who can change what the daemon keeps; chown it to user \(geteuid())"
            }
            guard status.st_mode & 0o022 != 0 else { return nil }
            let mode = String(status.st_mode & 0o7777, radix: 8)
            return "\(path) has mode 0\(mode): other users can change what the daemon keeps; chmod it to 0700"
        }
    }

    /// Throws if the directory has been replaced since it was locked.
    private func check() throws(SourceError) {
        guard try onDisk(try FileIO.isNamed(lock, path + "/lock")) else {
            throw .stateNotWritable(
                "the state directory \(path) was removed or replaced while the daemon runs; nothing has changed. Put it back, or restart the daemon on the one that is there"
            )
        }
    }

    /// Links a damaged file of a source into `damaged/NAME/`, where only the operator deletes it.
    package func setAside(_ file: String, of name: SourceName) {
        let folder = path + "/damaged/" + name.text
        try? FileIO.makeDirectory(path + "/damaged")
        try? FileIO.makeDirectory(folder)
        let source = directory(of: name) + "/" + file
        for copy in 0..<100 {
            let target = folder + "/" + (copy == 0 ? file : "\(file).\(copy)")
            if FileIdentity(target) == FileIdentity(source) { return }
            // The original stays until an intact snapshot has replaced it.
            if link(source, target) == 0 { break }
            guard errno == EEXIST else { return }
        }
        try? FileIO.syncDirectory(folder)
    }

    /// How often undoing a deletion is tried.
    private static let attempts = 8

    /// Removes the directory of a source whose creation was never answered.
    package func discard(_ name: SourceName) { try? remove(name) }

    /// Whether failed calls have left something that could not be undone.
    package var hasLeftovers: Bool { leftovers.withLock { !$0.isEmpty } }

    /// Runs a body while no directory of a source is created, renamed or removed.
    func withNamingLock<Result>(_ body: () throws(SourceError) -> Result) throws(SourceError) -> Result {
        try naming.withLock(.never, body)
    }

    /// Undoes what failed calls have left. Blocks if there is anything: only for threads of the pool.
    package func takeBackLeftovers() {
        try? naming.withLock(.never) { () throws(SourceError) in takeBackAll() }
    }

    /// The caller must hold `naming`.
    private func takeBackAll() {
        for (name, leftover) in leftovers.withLock({ $0 }) where takeBack(leftover, of: name) {
            leftovers.withLock { $0[name] = nil }
        }
    }

    /// Undoes one leftover; false if the disk fails.
    private func takeBack(_ leftover: Leftover, of name: SourceName) -> Bool {
        let own = directory(of: name)
        switch leftover {
        case .moved(let removed):
            if FileIO.exists(removed) { try? FileIO.rename(removed, to: own) }
            return !FileIO.exists(removed)
        case .begun(let journal):
            guard FileIO.exists(own) else { return true }
            if let journal { try? journal.unbegin() }
            let removed = removedDirectory(name)
            guard (try? FileIO.rename(own, to: removed)) != nil else { return false }
            FileIO.removeDirectory(removed)
            return true
        }
    }

    /// The process that holds the lock according to the lock file, as ` (process 7)`.
    private static func holder(of lock: FileDescriptor) -> String {
        var text = [UInt8](repeating: 0, count: 16)
        let count = pread(lock.number, &text, text.count, 0)
        guard count > 0, let pid = Int32(String(decoding: text[..<count], as: UTF8.self)) else { return "" }
        return " (process \(pid))"
    }

    private static func write(_ pid: Int32, to lock: FileDescriptor) {
        let text = Array(String(pid).utf8)
        _ = ftruncate(lock.number, 0)
        _ = pwrite(lock.number, text, text.count, 0)
    }

    /// Releases the lock while this object is still referenced. Nothing may be written afterwards.
    package func release() { flock(lock.number, LOCK_UN) }

    private var sources: String { path + "/sources" }

    package func directory(of source: SourceName) -> String { sources + "/" + source.text }

    /// The highest revision number of deleted sources. Later numbers are above it.
    package var lastRevision: UInt64 {
        get throws(StateFault) {
            let path = path + "/revision"
            guard FileIO.exists(path) else { return 0 }
            let text: [UInt8]
            do throws(FileError) { text = try FileIO.contents(of: path) } catch { throw StateFault(error) }
            guard let number = UInt64(String(decoding: text, as: UTF8.self)) else {
                throw StateFault("\(path) is damaged: it has no number")
            }
            return number
        }
    }

    /// Stores a number above which later revision numbers must be. Synced on return.
    package func note(lastRevision: UInt64) throws(SourceError) {
        try check()
        let (new, final) = (path + "/new-revision", path + "/revision")
        let file = try onDisk(try FileIO.create(new))
        let text = Array(String(lastRevision).utf8)
        try onDisk(try FileIO.write(text, to: file, at: 0, path: new))
        try onDisk(try FileIO.sync(file, path: new))
        try onDisk(try FileIO.rename(new, to: final))
        try onDisk(try FileIO.syncDirectory(path))
    }

    /// The names of sources with a directory, and other names found beside them.
    package func names() throws(SourceError) -> (sources: [SourceName], others: [String]) {
        var (found, others): ([SourceName], [String]) = ([], [])
        for name in try onDisk(try FileIO.names(in: sources).sorted()) {
            if let name = SourceName(name) { found.append(name) } else { others.append(name) }
        }
        return (found, others)
    }

    /// Creates the directory of a source, synced on return. After an error there is none.
    ///
    /// - Parameter fill: writes the source's files into the directory with this path, and returns the journal that puts
    ///   them into effect.
    /// - Returns: the directory's path, and that journal.
    package func create(
        _ name: SourceName, fill: (String) throws(SourceError) -> JournalWriter
    ) throws(SourceError) -> (path: String, journal: JournalWriter) {
        try naming.withLock(.never) { () throws(SourceError) in try makeDirectory(name, fill) }
    }

    private func makeDirectory(
        _ name: SourceName, _ fill: (String) throws(SourceError) -> JournalWriter
    ) throws(SourceError) -> (path: String, journal: JournalWriter) {
        // Names that begin with a dot are not sources. The next start removes them.
        let new = sources + "/.new-" + name.text
        let final = directory(of: name)
        try check()
        takeBackAll()
        FileIO.removeDirectory(new)
        // Left by a failed creation that could not be undone.
        if FileIO.exists(final) { try onDisk(try FileIO.rename(final, to: removedDirectory(name))) }
        var made: JournalWriter?
        do throws(SourceError) {
            try onDisk(try FileIO.makeDirectory(new))
            var journal = try fill(new)
            made = journal
            try onDisk(try FileIO.rename(new, to: final))
            try onDisk(try FileIO.syncDirectory(sources))
            journal.path = final + journal.path.dropFirst(new.count)
            made = journal
            // The commit point of the creation.
            do throws(FileError) { try journal.begin() } catch { throw SourceError(error) }
            leftovers.withLock { $0[name] = nil }
            return (final, journal)
        } catch {
            if !takeBack(.begun(made), of: name) { leftovers.withLock { $0[name] = .begun(made) } }
            FileIO.removeDirectory(new)
            throw error
        }
    }

    /// A unique name for a directory to be removed.
    private func removedDirectory(_ name: SourceName) -> String {
        sources + "/.gone-\(name.text)-\(UInt64.random(in: 0...(.max)))"
    }

    /// Removes a source's files, synced on return. After an error nothing has changed.
    package func remove(_ name: SourceName) throws(SourceError) {
        try naming.withLock(.never) { () throws(SourceError) in
            try check()
            takeBackAll()
            let removed = removedDirectory(name)
            try onDisk(try FileIO.rename(directory(of: name), to: removed))
            do throws(SourceError) { try onDisk(try FileIO.syncDirectory(sources)) } catch {
                // A served source without its directory would be lost at the next start.
                var isBack = false
                for _ in 0..<Self.attempts where !isBack { isBack = takeBack(.moved(removed), of: name) }
                if !isBack { leftovers.withLock { $0[name] = .moved(removed) } }
                throw error
            }
            FileIO.removeDirectory(removed)
        }
    }
}

/// An event about the sources' files for the operator.
public struct StateEvent: Sendable, Equatable {
    public enum Gravity: Sendable {
        /// All is well.
        case information
        /// No acknowledged change is lost.
        case warning
        /// A source is damaged or cannot be stored.
        case error
    }

    public let gravity: Gravity
    /// The name of the source; nil if the event is not about one source.
    public let source: String?
    /// What happened, for the operator.
    public let message: String
}

extension StateEvent: CustomStringConvertible {
    public var description: String { source.map { "source '\($0)': \(message)" } ?? message }
}
