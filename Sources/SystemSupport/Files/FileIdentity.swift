// SPDX-License-Identifier: MIT
import Glibc

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
