// SPDX-License-Identifier: MIT
import Foundation
import TestSupport

/// A block of a document that readers paste into a shell, or a session with prompts and output.
struct ShellBlock {
    let page: String
    let lines: [String]
    /// Whether commands have a prompt before them, and their output behind them.
    let isSession: Bool

    static let root = Repository.root

    /// All documents, by their paths in the project.
    static func pages() throws -> [String] {
        let files = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return files.filter { path in
            path.hasSuffix(".md") && !path.contains("/.") && !path.hasPrefix(".") && !path.contains("node_modules")
        }.sorted()
    }

    static func blocks(of page: String) throws -> [ShellBlock] {
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        var blocks: [ShellBlock] = []
        var lines: [String]?
        var language = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let found = lines, line.hasPrefix("```") {
                let isSession = language.isEmpty && found.first?.hasPrefix("$ ") == true
                if isSession || ["sh", "bash", "shell", "console"].contains(language) {
                    blocks.append(ShellBlock(page: page, lines: found, isSession: isSession))
                }
                lines = nil
            } else if lines != nil {
                lines?.append(line)
            } else if line.hasPrefix("```") {
                language = String(line.dropFirst(3))
                lines = []
            }
        }
        return blocks
    }

    /// The commands of a session with the output shown behind each.
    var session: [(command: String, output: [String])] {
        var session: [(command: String, output: [String])] = []
        for line in lines {
            if line.hasPrefix("$ ") {
                session.append((String(line.dropFirst(2)), []))
            } else if !line.isEmpty, !session.isEmpty {
                session[session.count - 1].output.append(line)
            }
        }
        return session
    }

    /// A command without the comment behind it.
    static func withoutComment(_ line: String) -> String {
        guard let comment = line.range(of: #"\s+# "#, options: .regularExpression) else { return line }
        return String(line[..<comment.lowerBound])
    }
}
