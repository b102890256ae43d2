// SPDX-License-Identifier: MIT
import Glibc

/// Why a file could not be read or written.
public enum FileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A call to the system failed with this `errno`.
    case failed(action: String, path: String, code: Int32)
    /// The file can't be used for another reason, in a sentence without a period.
    case unusable(String)

    /// Whether the disk is full, a quota is used up, or the file would be too large.
    public var isOutOfSpace: Bool {
        guard case .failed(_, _, let code) = self else { return false }
        return code == ENOSPC || code == EDQUOT || code == EFBIG
    }

    /// Whether nothing has the name, or what has it is of another kind: trying again gives the same.
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
