// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import HTTPDoor

@Suite("Resources on their page") struct ResourceDocumentTests {
    /// A row of the page's table: the paths that it describes, and the words in code.
    private struct Row {
        let paths: [String]
        let words: Set<String>
        let refersToClusters: Bool
    }

    private static func code(_ text: some StringProtocol) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    private static func words(_ code: [String]) -> Set<String> {
        Set(code.flatMap { $0.components(separatedBy: CharacterSet.alphanumerics.inverted) })
    }

    /// The words in code of the paragraph about all resources, and the table's rows.
    private static func page() throws -> (common: Set<String>, rows: [Row]) {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../proto-docs/http.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Resources\n").last)
            .components(separatedBy: "\n## ")[0]
        let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.components(separatedBy: " | ")
            let code = code(line)
            return Row(
                paths: paths(self.code(cells[0])), words: words(code),
                refersToClusters: code.contains("clusters"))
        }
        return (words(code(section.components(separatedBy: "\n| ")[0])), rows)
    }

    /// The paths of a row's first cell: after `GET /a/b.mvt`, `c` is /a/c, and `….json` is /a/b.json.
    private static func paths(_ code: [String]) -> [String] {
        var paths: [String] = []
        for text in code {
            if let path = text.split(separator: " ").last, path.hasPrefix("/") {
                paths.append(String(path.prefix { $0 != "?" }).replacing(/\{.\}/, with: "0"))
            } else if let last = paths.last {
                let folder = last.prefix(through: last.lastIndex(of: "/") ?? last.startIndex)
                let name = last.dropFirst(folder.count).prefix { $0 != "." }
                paths.append(folder + text.replacing("…", with: String(name)))
            }
        }
        return paths
    }

    private static func parameters(_ path: String) throws -> [String] {
        switch try Router.resource(Array(path.utf8)[...]) {
        case .query(let query, _, _): query.known.map(\.name)
        case .features: ResourceQuery.importParameters.map(\.name)
        case .watch: ResourceQuery.watchParameters.map(\.name)
        case .tileJSON: ResourceQuery.tileJSONParameters.map(\.name)
        default: []
        }
    }

    @Test("the page names each query parameter of each resource")
    func parametersAreNamed() throws {
        let (common, rows) = try Self.page()
        let clusters = try #require(rows.first { $0.paths == ["/sources/S/clusters"] })
        var count = 0
        for row in rows {
            let named = common.union(row.words).union(row.refersToClusters ? clusters.words : [])
            for path in row.paths {
                for parameter in try Self.parameters(path) {
                    count += 1
                    #expect(named.contains(parameter), "\(path): \(parameter)")
                }
            }
        }
        #expect(count > 50)
    }
}
