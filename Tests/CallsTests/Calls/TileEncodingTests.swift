// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Calls

@Suite("Encodings of tiles") struct TileEncodingTests {
    @Test("the documents name each encoding", arguments: TileEncoding.allCases)
    func documented(_ encoding: TileEncoding) throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../proto-docs/cluster-service.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let row = try #require(text.components(separatedBy: "\n").first { $0.hasPrefix("| `encoding` |") })
        #expect(row.contains("`\"\(encoding.rawValue)\"`"))
    }
}
