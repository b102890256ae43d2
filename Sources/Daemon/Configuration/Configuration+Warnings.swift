// SPDX-License-Identifier: MIT
import RPC
import Glibc
import SourceEngine

extension Configuration {
    /// Warnings for people about things that the configuration names and that do not exist. The daemon starts anyway.
    public var warnings: [String] {
        var warnings: [String] = []
        for directory in importDirectories where !Self.isDirectory(directory) {
            warnings.append("importDirectories: \(directory) is not a directory")
        }
        if let stateDirectory, !Self.isDirectory(stateDirectory),
            !Self.isDirectory(Self.directory(of: stateDirectory))
        {
            warnings.append("state: neither \(stateDirectory) nor the directory above it is there")
        }
        if let socket, !Self.isDirectory(Self.directory(of: socket)) {
            warnings.append("socket: the directory of \(socket) is not there")
        }
        for source in sources {
            guard let file = source.file, Glibc.access(file, R_OK) != 0 else { continue }
            warnings.append("sources.\(source.name.text).file: \(file): \(String(cString: strerror(errno)))")
        }
        if http.tokens.contains(where: \.isShort) {
            warnings.append("http.tokens: a secret of HS256 has less than 32 bytes, so it may be guessed")
        }
        return warnings + access.unknownNames
    }

    /// The directory that contains a path's last component.
    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
