// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc

/// Writes output files.
enum OutputFile {
    /// Writes a complete file and replaces an existing one. `-` is standard output.
    static func write(_ bytes: [UInt8], to path: String) throws {
        if path == "-" { return Terminal.write(bytes) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
        defer { close(descriptor) }
        bytes.withUnsafeBytes { Terminal.writeAll($0, to: descriptor) }
    }
}
