// SPDX-License-Identifier: MIT
import Sources
import SystemSupport

/// Why an archive could not be written. Nothing is left of it then.
public enum ArchiveError: Error {
    /// A file of that name exists, and `overwrite` was not asked for.
    case fileExists(String)
    /// The path is not below a directory that may be written to.
    case forbidden
    /// The directory of the path does not exist.
    case missingDirectory(String)
    /// A directory stands in the file's way.
    case isDirectory(String)
    /// The disk is full, a quota is used up, or the file would be larger than a file may be.
    case noSpace
    /// Another call to the system failed.
    case system(FileError)
    case outOfMemory
    /// A directory of the archive would pass the format's limits.
    case tooManyTiles
    /// Nobody waits for the archive any more.
    case cancelled
    /// The tiles could not be made.
    case source(SourceError)
}
