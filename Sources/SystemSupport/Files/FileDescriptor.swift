// SPDX-License-Identifier: MIT
import Glibc

/// An open file, closed with the last reference.
public final class FileDescriptor: Sendable {
    /// The number for system calls, valid while this object lives.
    public let number: Int32

    /// Takes ownership of a descriptor.
    package init(owning number: Int32) {
        self.number = number
    }

    /// Opens a regular file for reading, following links: for paths from the administrator.
    public init(reading path: String) throws(FileError) {
        // Opening a pipe or a device must not block.
        number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else {
            throw .failed(action: "open", path: path, code: errno)
        }
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unusable("\(path) is not a regular file")
        }
    }

    /// The file's current size, in bytes.
    public var size: Int {
        var status = stat()
        return fstat(number, &status) == 0 ? Int(status.st_size) : 0
    }

    deinit {
        if number >= 0 { close(number) }
    }
}

/// Distinguishes a file or directory from one that replaces it under the same name.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt
    private let number: UInt

    /// Nil if there is no such file.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
    }
}

/// Why a file could not be read or written.
public enum FileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A system call failed with this `errno`.
    case failed(action: String, path: String, code: Int32)
    /// The file cannot be used for another reason, given in a sentence without a full stop.
    case unusable(String)

    /// Whether the disk is full, a quota is used up, or the file would be too large.
    public var isOutOfSpace: Bool {
        guard case .failed(_, _, let code) = self else { return false }
        return code == ENOSPC || code == EDQUOT || code == EFBIG
    }

    /// Whether the file does not exist or is of another kind, so that a retry would fail again.
    public var isMissing: Bool {
        guard case .failed(_, _, let code) = self else { return true }
        return [ENOENT, ENOTDIR, EISDIR, ELOOP, ENXIO].contains(code)
    }

    public var description: String {
        switch self {
        case .failed(let action, let path, let code):
            "cannot \(action) \(path): \(String(cString: strerror(code)))"
        case .unusable(let message): message
        }
    }
}
