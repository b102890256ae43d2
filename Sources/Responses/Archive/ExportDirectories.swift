// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// The directories in which callers may have archives written.
///
/// A path is opened from the directory down without following links, and must not contain `..`.
public struct ExportDirectories: Sendable {
    private let roots: [String]

    /// - Parameter paths: absolute paths; a directory need not exist yet.
    public init(_ paths: [String]) { roots = paths }

    /// Finds the directory of a file to be written.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the directories. The first one that contains its directory is used.
    ///   - isSeen: whether the caller may see a file that the archive would replace.
    /// - Throws: `forbidden`; `missingDirectory`; `fileExists` unless it may be overwritten; `isHidden`; `isDirectory`.
    package func target(
        _ path: String, overwrite: Bool, isSeen: (FileDescriptor) -> Bool = { _ in true }
    ) throws(ArchiveError) -> ArchiveTarget {
        guard !path.utf8.contains(0), path.utf8.count < Int(PATH_MAX), !path.utf8.isEmpty else {
            throw .forbidden(below: roots)
        }
        var isMissing = false
        for root in roots {
            guard let below = Self.components(of: path, below: root), let name = below.last else { continue }
            let resolved = FileSystem.resolve(root) ?? root
            guard let directory = FileSystem.openDirectories(below.dropLast(), below: resolved) else {
                if errno == ENOENT { isMissing = true }
                continue
            }
            try Self.check(name, in: directory, overwrite: overwrite, isSeen)
            let full = ([root] + below).joined(separator: "/")
            return ArchiveTarget(directory: directory, name: name, path: full, overwrites: overwrite)
        }
        throw isMissing ? .missingDirectory(path) : .forbidden(below: roots)
    }

    /// The names of the path from a root to a file; nil if the file is not below the root.
    private static func components(of path: String, below root: String) -> [String]? {
        let rootNames = root.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        var names = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        if path.utf8.first == UInt8(ascii: "/") {
            guard names.starts(with: rootNames, by: { $0.utf8.elementsEqual($1.utf8) }) else { return nil }
            names.removeFirst(rootNames.count)
        }
        guard !names.isEmpty, path.utf8.last != UInt8(ascii: "/"),
            !names.contains(where: { $0 == ".." || $0 == "." })
        else { return nil }
        return names
    }

    private static func check(
        _ name: String, in directory: FileDescriptor, overwrite: Bool, _ isSeen: (FileDescriptor) -> Bool
    ) throws(ArchiveError) {
        var status = stat()
        guard fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR { throw .isDirectory(name) }
        guard let file = FileSystem.openRegularFile(name, in: directory), !isSeen(file) else {
            if !overwrite { throw .fileExists(name) }
            return
        }
        throw .isHidden(name)
    }
}
