// SPDX-License-Identifier: MIT
import Glibc
import Synchronization
import SystemSupport

/// Archives below the directories that `PublishTiles` may write to. Safe from any thread.
final class ArchiveStore: Sendable {
    private let directories = Mutex<[String]>([])

    /// - Parameter paths: absolute paths; a directory need not exist yet.
    func setDirectories(_ paths: [String]) { directories.withLock { $0 = paths } }

    /// Opens an archive. Links are not followed, and files whose names begin with a dot are not found.
    ///
    /// Blocks: call it only on pool threads.
    ///
    /// - Parameter names: the path below one of the store's directories: directories, then the file.
    func open(_ names: [String]) -> ServedArchive? {
        guard names.allSatisfy({ !$0.hasPrefix(".") && !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "/")) })
        else { return nil }
        for directory in directories.withLock({ $0 }) {
            guard let root = FileSystem.resolve(directory),
                let file = FileSystem.openRegularFile(names, below: root),
                let archive = ServedArchive(file)
            else { continue }
            return archive
        }
        return nil
    }
}

/// An archive of tiles, opened for reading. Clients read the same file even if another takes its name meanwhile.
final class ServedArchive: Sendable {
    /// The size in bytes.
    let size: Int
    /// The validator, which changes with the file: an archive is written once and then replaced as a whole.
    let tag: EntityTag
    /// The time of the last modification, in seconds since 1970.
    let modified: Int
    let file: FileDescriptor

    /// Nil if the file is not a PMTiles archive: nothing else below an export directory is served.
    init?(_ file: FileDescriptor) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { return nil }
        self.file = file
        size = Int(status.st_size)
        modified = status.st_mtim.tv_sec
        let moment =
            UInt64(bitPattern: Int64(status.st_mtim.tv_sec)) &* 1_000_000_000
            &+ UInt64(bitPattern: Int64(status.st_mtim.tv_nsec))
        tag = EntityTag(
            process: UInt64(status.st_dev) << 32 ^ UInt64(status.st_ino), revision: moment,
            request: UInt64(clamping: size))
        guard read(0..<min(size, Self.magic.count)) == Self.magic else { return nil }
    }

    private static let magic = Array("PMTiles".utf8)

    /// Reads a part. Returns nil if the file no longer contains all of it, or if the disk fails.
    ///
    /// Blocks: call it only on pool threads.
    func read(_ range: Range<Int>) -> [UInt8]? {
        guard
            let bytes = try? FileIO.read(range.count, from: file, at: range.lowerBound, path: "an archive")
        else { return nil }
        return bytes.count == range.count ? bytes : nil
    }
}

/// The result of a request's conditions for a file (RFC 9110, section 13.2.2).
enum ArchivePrecondition: Equatable {
    /// The request is performed.
    case none
    /// The request is not performed, because the archive does not meet a condition.
    case failed(HeaderField)
    case notModified

    init(_ head: RequestHead, _ archive: ServedArchive) {
        if let failed = Self.failed(head, archive) {
            self = .failed(failed)
        } else if let field = head[.ifNoneMatch] {
            self = archive.tag.match(field) == nil ? .none : .notModified
        } else if let date = head[.ifModifiedSince].flatMap({ HTTPDate.seconds($0) }) {
            self = archive.modified <= date ? .notModified : .none
        } else {
            self = .none
        }
    }

    /// The condition that the archive must meet but does not. Dates count only if there are no tags.
    private static func failed(_ head: RequestHead, _ archive: ServedArchive) -> HeaderField? {
        if let field = head[.ifMatch] { return archive.tag.matchesStrongly(field) ? nil : .ifMatch }
        guard let date = head[.ifUnmodifiedSince].flatMap({ HTTPDate.seconds($0) }), archive.modified > date
        else { return nil }
        return .ifUnmodifiedSince
    }

    /// The part that a request asks for. `If-Range` names the archive of which the client has other parts; if
    /// that is a different one, the client gets the whole file.
    static func range(_ head: RequestHead, _ archive: ServedArchive) -> ByteRange {
        guard head.method == .get else { return .whole }
        if let field = head[.ifRange], !archive.tag.matchesStrongly(field), !isDate(field, of: archive) {
            return .whole
        }
        return ByteRange(head[.range], size: archive.size)
    }

    /// Whether a date is exactly the archive's own `Last-Modified`, as parts of the same file require.
    private static func isDate(_ field: String, of archive: ServedArchive) -> Bool {
        field.utf8.elementsEqual(HTTPDate.text(archive.modified))
    }
}
