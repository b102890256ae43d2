// SPDX-License-Identifier: MIT
import Glibc

/// Distinguishes a file or directory from another that takes its name.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt
    private let number: UInt

    /// Nil if nothing has the name.
    package init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        (device, number) = (UInt(status.st_dev), UInt(status.st_ino))
    }
}
