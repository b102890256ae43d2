// SPDX-License-Identifier: MIT
import ClusterProtocol
import CommandLineOptions
import Foundation
import JSON
import SourceEngine
import Testing

@testable import clusterctl

@Suite("Options of sources: flags and documents") struct SourceOptionFlagsTests {
    /// Options that a flag sets under another name, or with others.
    private static let flags = [
        "clusterProperties": "cluster-property", "indexedProperties": "indexed-property", "projection": "planar",
        "ttlSeconds": "ttl", "views": "view",
    ]

    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Such as `min-zoom` of `minZoom`.
    private static func flag(_ name: String) -> String {
        flags[name] ?? name.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }

    @Test("each option has a flag", arguments: SourceOption.all.map(\.name)) func complete(_ name: String) {
        #expect(SourceOptionFlags.options.contains { $0.name == Self.flag(name) })
    }

    @Test("help shows the daemon's default, and the flag is not sent by itself") func defaults() throws {
        for option in SourceOption.all {
            guard let flag = SourceOptionFlags.options.first(where: { $0.name == Self.flag(option.name) }),
                flag.valueName != nil, option.name != "projection", let standard = option.standard
            else { continue }
            #expect(flag.standardInWords == (standard.asString ?? standard.text), "\(option.name)")
            #expect(flag.standard == nil)
        }
    }

    /// The cells of a table's rows that begin with a name in code.
    private static func rows(_ page: String) throws -> [(names: [String], default: String)] {
        try text(page).split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 5, cells[1].hasPrefix("`") else { return nil }
            let names = cells[1].split(separator: ",").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: "` "))
            }
            return (names, cells[2])
        }
    }

    @Test("the documents' table has each option with its default") func documents() throws {
        let page = "proto-docs/source-service.md"
        let rows = try Self.rows(page)
        for option in SourceOption.all {
            guard let row = rows.first(where: { $0.names.contains(option.name) }),
                let place = row.names.firstIndex(of: option.name)
            else {
                Issue.record("\(page) lacks \(option.name)")
                continue
            }
            let shown = row.default.split(separator: ",").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: "` "))
            }
            let expected = option.standard?.text
            #expect((shown.count > place ? shown[place] : nil) == expected, "\(page): \(option.name)")
        }
    }
}
