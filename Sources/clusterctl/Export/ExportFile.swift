// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc

/// A file that appears when it is complete and replaces an existing one; or standard output.
final class ExportFile {
    private let path: String?
    private let descriptor: Int32
    private var isFinished = false

    private var temporary: String { "\(path ?? "").part" }

    /// - Parameter path: nil or `-` for standard output.
    init(_ path: String?) throws {
        guard let path, path != "-" else {
            (self.path, descriptor) = (nil, STDOUT_FILENO)
            return
        }
        self.path = path
        descriptor = open(path + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
    }

    deinit {
        guard path != nil else { return }
        close(descriptor)
        if !isFinished { unlink(temporary) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard let path else { return Terminal.write(bytes) }
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let written = Glibc.write(descriptor, base, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw FeatureInputError(name: path, number: errno) }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
    }

    func write(_ text: String) throws {
        try Array(text.utf8).withUnsafeBytes { try write($0) }
    }

    /// Gives the file its name.
    func finish() throws {
        guard let path else { return }
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
            throw FeatureInputError(name: path, number: errno)
        }
        isFinished = true
    }
}
