// SPDX-License-Identifier: MIT
import ClusterClient
import Glibc

/// Reads small files: options, expressions, single features.
enum SmallFile {
    private static let limit = 15 << 20

    /// A file's path as the daemon can use it, which has a working directory of its own.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return String(cString: directory) + "/" + path
    }

    /// The text of a file, or of standard input if the path is `-`.
    static func read(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// The bytes of a file, or of standard input if the path is `-`.
    static func bytes(_ path: String) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FeatureInputError(name: path, number: errno) }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw FeatureInputError(name: path, number: errno) }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else { throw Failure(message: "\(path) is larger than 15 MiB") }
        }
    }
}
