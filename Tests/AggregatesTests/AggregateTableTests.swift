// SPDX-License-Identifier: MIT
import Foundation
import JSON
import SourceTestSupport
import TestSupport
import Testing

@testable import Aggregates
@testable import Responses
@testable import SourceEngine

/// What holds for every line of the table, also for those to come.
@Suite("The table of aggregates") struct AggregateTableTests {
    static let operators = AggregateTable.kinds.flatMap { $0.operators }

    /// A source's options with one aggregated property.
    private static func options(_ name: String) -> String {
        let definition =
            switch name {
            case "quantiles": #"["quantiles",[0.25,0.75],["get","n"]]"#
            case "all", "any": #"["\#(name)",[">",["get","n"],3]]"#
            default: #"["\#(name)",["get","n"]]"#
            }
        // Ids that do not depend on how the source came to have its features.
        return #"{"maxZoom":8,"clusterIds":"origin","clusterProperties":{"folded":\#(definition)}}"#
    }

    @Test("has each operator once") func unique() {
        #expect(Set(Self.operators).count == Self.operators.count)
        #expect(Self.operators.count >= 12)
    }

    @Test("each operator's values survive a restart", arguments: operators) func stored(_ name: String) throws {
        let kept = try KeptSources(isQuick: true)
        try kept.create(options: Self.options(name)).load(towns(200))
        let seen = kept.seen()
        #expect(seen.contains("\"folded\":"))
        try kept.restart()
        #expect(kept.seen() == seen)
    }

    @Test("each operator's values after updates are those of a load of the same features", arguments: operators)
    func maintained(_ name: String) throws {
        let kept = try KeptSources(isQuick: true)
        let source = try kept.create("a", options: Self.options(name))
        try source.load(towns(200))
        for id in stride(from: 200, to: 210, by: 2) { try source.change(upsert: towns(2, from: id)) }
        try kept.create("b", options: Self.options(name)).load(towns(210))
        #expect(kept.said("a") == kept.said("b"))
    }

    @Test("the documents name each operator", arguments: operators) func documented(_ name: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("proto-docs/expressions.md"), encoding: .utf8)
        #expect(page.contains("\"\(name)\"") || page.contains("`\(name)`"))
    }
}
