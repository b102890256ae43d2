// SPDX-License-Identifier: MIT
import Glibc

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
