// SPDX-License-Identifier: MIT
import Glibc

/// The system calls for opening a file below a directory.
package enum FileSystem {
    /// The path without links, `.` and `..`; nil if it does not exist.
    package static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path.isEmpty ? "/" : path, nil) else { return nil }
        defer { free(resolved) }
        let text = String(cString: resolved)
        return text == "/" ? "" : text
    }

    /// Opens a regular file from `root` down without following links; nil on failure.
    package static func openRegularFile(_ components: [String], below root: String) -> FileDescriptor? {
        guard let name = components.last, let directory = openDirectories(components.dropLast(), below: root)
        else { return nil }
        return openRegularFile(name, in: directory)
    }

    /// Opens a regular file of a directory without following a link; nil on failure.
    package static func openRegularFile(_ name: String, in directory: FileDescriptor) -> FileDescriptor? {
        // Opening a pipe or a device must not block.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let number = openat(directory.number, name, flags)
        guard number >= 0 else { return nil }
        let file = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return file
    }

    /// Whether the first missing name of a path is missing from a real directory below `root`.
    ///
    /// If the path contains a link, the answer is no: the link may lead outside, and the answer must not reveal what
    /// exists there.
    package static func isPlainlyMissing(_ components: [String], below root: String) -> Bool {
        for (index, name) in components.enumerated() {
            guard let directory = openDirectories(components.prefix(index), below: root) else { return false }
            var status = stat()
            if fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) != 0 { return errno == ENOENT }
            if status.st_mode & S_IFMT != S_IFDIR { return false }
        }
        return false
    }

    /// Opens a directory from `root` down without following links; nil on failure, with the reason in `errno`.
    package static func openDirectories(_ components: ArraySlice<String>, below root: String) -> FileDescriptor? {
        let flags = directoryFlags
        let first = open(root.isEmpty ? "/" : root, flags)
        guard first >= 0 else { return nil }
        var directory = FileDescriptor(owning: first)
        for name in components {
            let next = openat(directory.number, name, flags | O_NOFOLLOW)
            guard next >= 0 else { return nil }
            directory = FileDescriptor(owning: next)
        }
        return directory
    }

    private static let directoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
}
