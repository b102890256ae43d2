// SPDX-License-Identifier: MIT
import Glibc

/// An open file, closed with the last reference.
public final class FileDescriptor: Sendable {
    /// The number that the system calls take; valid while this object lives.
    public let number: Int32

    /// Takes the descriptor over.
    init(owning number: Int32) {
        self.number = number
    }

    /// The file's size of now, in bytes.
    public var size: Int {
        var status = stat()
        return fstat(number, &status) == 0 ? Int(status.st_size) : 0
    }

    deinit {
        close(number)
    }
}
