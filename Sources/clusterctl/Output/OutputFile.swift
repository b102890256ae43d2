// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc

/// A file that a command makes.
enum OutputFile {
    /// Writes a file whole, in place of one that is there; `-` is standard output.
    static func write(_ bytes: [UInt8], to path: String) throws {
        if path == "-" { return Terminal.write(bytes) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
        defer { close(descriptor) }
        bytes.withUnsafeBytes { Terminal.writeAll($0, to: descriptor) }
    }
}
