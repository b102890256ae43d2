// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import Glibc

/// A file that appears once it is written and replaces an existing one; or standard output, a device or a pipe.
final class OutputFile {
    /// Writes a file at once.
    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try OutputFile(path)
        try file.write(bytes)
        try file.finish()
    }

    /// The path as given; nil for standard output.
    private let path: String?
    /// The file to replace, without links; nil if the bytes are written directly.
    private let target: String?
    private let descriptor: Int32
    private var isFinished = false

    /// - Parameter path: nil or `-` for standard output.
    init(_ path: String?) throws {
        guard let path, path != "-" else {
            (self.path, target, descriptor) = (nil, nil, STDOUT_FILENO)
            return
        }
        self.path = path
        target = Self.target(of: path)
        if let target {
            descriptor = open(Self.temporary(target), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        } else {
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
    }

    /// The file that a new one is to replace; nil if the path is that of anything but a file.
    private static func target(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG, let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func temporary(_ target: String) -> String { target + ".part" }

    deinit {
        guard path != nil else { return }
        close(descriptor)
        if let target, !isFinished { unlink(Self.temporary(target)) }
    }

    func write(_ bytes: [UInt8]) throws {
        guard let path else { return Terminal.write(bytes) }
        let number = Launch.write(bytes, to: descriptor)
        guard number == 0 else { throw FeatureInputError(name: path, number: number) }
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Gives the file its name, and the owner and permissions of the file that it replaces.
    func finish() throws {
        guard let path, let target else { return }
        var old = stat()
        if stat(target, &old) == 0 {
            // Only root may change the owner.
            _ = fchown(descriptor, old.st_uid, old.st_gid)
            _ = fchmod(descriptor, old.st_mode & 0o7777)
        }
        guard fsync(descriptor) == 0, rename(Self.temporary(target), target) == 0 else {
            throw FeatureInputError(name: path, number: errno)
        }
        isFinished = true
    }
}
