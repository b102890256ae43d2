// SPDX-License-Identifier: MIT
import Sources
import SystemSupport

/// Why an archive could not be written. No part of it remains.
public enum ArchiveError: Error {
    /// A file of that name exists, and `overwrite` is false.
    case fileExists(String)
    /// The path is not in a directory that may be written to.
    case forbidden
    /// The directory of the path does not exist.
    case missingDirectory(String)
    /// A directory has the file's name.
    case isDirectory(String)
    /// The disk is full, a quota is used up, or the file would be larger than a file may be.
    case noSpace
    /// Another system call failed.
    case system(FileError)
    case outOfMemory
    /// A directory of the archive would exceed the format's limits.
    case tooManyTiles
    /// The caller has cancelled.
    case cancelled
    /// The tiles could not be encoded.
    case source(SourceError)

    /// The error that a source's error becomes.
    init(_ error: SourceError) { self = error == .cancelled ? .cancelled : .source(error) }
}
