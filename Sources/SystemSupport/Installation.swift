// SPDX-License-Identifier: MIT
import Glibc

/// Finds the files that come with this program, wherever it is installed.
public enum Installation {
    /// The path of an installed file; nil if there is none.
    ///
    /// - Parameters:
    ///   - name: its path in `share/clusterd`, which stands beside the program's folder.
    ///   - source: its path in the source tree, for a program that was built and not installed.
    ///   - program: the program's path, without symbolic links.
    public static func path(of name: String, source: String? = nil, program: String? = program) -> String? {
        guard let program else { return nil }
        var folder = parent(program)
        var candidates = ["\(parent(folder))/share/clusterd/\(name)"]
        while let source, !folder.isEmpty {
            folder = parent(folder)
            candidates.append("\(folder)/\(source)")
        }
        return candidates.first { access($0, R_OK) == 0 }
    }

    /// The folder of a file; the empty text for one in the root folder.
    public static func parent(_ path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// This program's path, without symbolic links.
    public static let program: String? = {
        guard let path = realpath("/proc/self/exe", nil) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }()
}
