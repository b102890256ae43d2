// SPDX-License-Identifier: MIT
import Glibc
import SystemSupport

/// A file to be written.
public struct ArchiveTarget: Sendable {
    /// Its directory, open.
    let directory: FileDescriptor
    let name: String
    /// The path in answers.
    public let path: String
    /// Whether it replaces an existing file of that name.
    let overwrites: Bool
}
