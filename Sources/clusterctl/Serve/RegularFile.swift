// SPDX-License-Identifier: MIT
import CommandLineOptions
import Glibc

/// A file that a daemon of the same user can read itself, in parallel: not a pipe, not standard input, and
/// not one that GDAL must convert first.
struct RegularFile {
    /// Absolute, without links.
    let path: String
    let bytes: Int

    var directory: String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.count > 1 ? parts.joined(separator: "/") : "/"
    }

    /// Nil if the file is of another kind, or cannot be read.
    init?(_ path: String, _ arguments: ParsedArguments) {
        guard path != "-", !ForeignFile.isForeign(path, arguments), let resolved = realpath(path, nil) else {
            return nil
        }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(resolved, R_OK) == 0
        else { return nil }
        self.path = String(cString: resolved)
        bytes = Int(status.st_size)
    }
}
