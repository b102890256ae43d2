// SPDX-License-Identifier: MIT
import ClusterProtocol
import Foundation
import Testing

@testable import HTTPServer

@Suite("Resources on their page") struct ResourceDocumentTests {
    /// A row of the page's table: the paths that it describes, and the words in code.
    private struct Row {
        let paths: [String]
        let words: Set<String>
    }

    private static func code(_ text: some StringProtocol) -> [String] {
        text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }

    private static func words(_ code: [String]) -> Set<String> {
        Set(code.flatMap { $0.components(separatedBy: CharacterSet.alphanumerics.inverted) })
    }

    private static func rows() throws -> [Row] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../proto-docs/http.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "## Resources\n").last)
            .components(separatedBy: "\n## ")[0]
        return section.components(separatedBy: "\n").filter { $0.hasPrefix("| `") }.map { line in
            Row(paths: paths(code(line.components(separatedBy: " | ")[0])), words: words(code(line)))
        }
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

    /// What the row of a resource must name: its method, or its parameters if it has none of the protocol.
    private static func names(_ path: String) throws -> [String] {
        switch try Router.resource(Array(path.utf8)[...]) {
        case .query(let query, _, _): [query.method.name]
        case .features: [ResourceQuery.features.method.name, ResourceQuery.importedFeatures.method.name]
        case .watch: [ResourceQuery.watch.method.name, ResourceQuery.timing.name]
        case .tileJSON: ResourceQuery.tileJSON.known.map(\.name)
        default: []
        }
    }

    @Test("the page names the method of each resource") func methodsAreNamed() throws {
        var count = 0
        for row in try Self.rows() {
            for path in row.paths {
                for name in try Self.names(path) {
                    count += 1
                    #expect(row.words.contains(name), "\(path): \(name)")
                }
            }
        }
        #expect(count > 12)
    }

    @Test("query parameters are the method's params without those in the path")
    func parameters() {
        #expect(
            ResourceQuery.leaves.known.map(\.name) == [
                "zoom", "filter", "revision", "atLeast", "limit", "offset", "window",
            ])
        #expect(
            ResourceQuery.tile.known.map(\.name) == [
                "grid", "properties", "include", "window", "pin", "topBy", "filter", "revision", "atLeast",
            ])
        #expect(
            ResourceQuery.clusters.known.map(\.name)
                == Array(MethodDeclaration.getClusters.paramNames.dropFirst()))
    }
}
