// SPDX-License-Identifier: MIT
import ClusterProtocol
import CommandLineOptions
import Foundation
import Testing

@testable import clusterctl

/// clusterctl speaks of its commands and options, never of methods and params.
@Suite("Messages of clusterctl") struct DaemonMessageTests {
    /// Whether a text names a method or a param of the protocol.
    private static func namesProtocol(_ text: String) -> Bool {
        let words = text.split { !$0.isLetter && $0 != "." }
        return words.contains { word in
            word.hasPrefix("params.") || word == "params"
                || MethodDeclaration.all.contains { $0.name == word && $0.name != "Check" }
        }
    }

    private static func texts(_ command: Command) -> [String] {
        [command.summary] + command.details + command.operands.map(\.help)
            + command.options.map(\.help) + command.options.compactMap(\.standardInWords)
            + command.examples.flatMap { [$0.commandLine, $0.explanation] }
    }

    @Test("no help text names a method or a param") func help() {
        for command in [CommandTable.root] + CommandTable.root.subcommands where command.name != "call" {
            for text in Self.texts(command) { #expect(!Self.namesProtocol(text), "\(command.name): \(text)") }
        }
    }

    /// Calls a function with each line of clusterctl's sources that is not a comment, split at its quotes.
    private static func eachLine(_ body: (_ file: String, _ parts: [Substring]) -> Void) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/clusterctl")
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            if ["CallCommand.swift", "DaemonMessage.swift"].contains(file.lastPathComponent) { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where !line.contains("//") {
                body(file.lastPathComponent, line.split(separator: "\"", omittingEmptySubsequences: false))
            }
        }
    }

    @Test("no message in the sources names a method or a param") func sources() throws {
        var count = 0
        try Self.eachLine { file, parts in
            // Every second part is within quotes. A message has words; a method's name in a call has none.
            for (place, part) in parts.enumerated() where place % 2 == 1 && part.contains(" ") {
                count += 1
                #expect(!Self.namesProtocol(String(part)), "\(file): \(part)")
            }
        }
        #expect(count > 300)
    }

    @Test("each method that the program calls has the name of its command") func methods() throws {
        var count = 0
        try Self.eachLine { file, parts in
            // `ClusterService/GetTile`, or `.getTile`.
            let words = parts.joined(separator: " ").split { !$0.isLetter && !"./".contains($0) }
            for method in MethodDeclaration.all where method.name != "Check" {
                let member = method.name.prefix(1).lowercased() + method.name.dropFirst()
                guard words.contains(where: { $0 == method.shortName || $0.hasSuffix(".\(member)") }) else {
                    continue
                }
                count += 1
                #expect(DaemonMessage.commands[method.name] != nil, "\(file) calls \(method.name)")
            }
        }
        #expect(count > 20)
    }

    @Test("the commands that stand for methods exist, and so do the methods") func commands() {
        let names = Set(CommandTable.root.subcommands.map(\.name))
        // It is not listed: clusterctl alone calls it.
        let methods = Set((MethodDeclaration.all + [.explainAccess]).map(\.name))
        #expect(DaemonMessage.commands.count > 20)
        for (method, command) in DaemonMessage.commands {
            let first = command.split(separator: " ").first.map(String.init) ?? ""
            #expect(names.contains(first), "\(method): \(command)")
            #expect(methods.contains(method), "\(method): \(command)")
        }
    }

    @Test(
        "the daemon's messages are translated",
        arguments: [
            (
                "there is no source 'x'; ListSources lists the sources",
                "there is no source 'x'; 'clusterctl sources' lists the sources"
            ),
            ("params.options.radius must not be negative.", "--radius must not be negative."),
            ("params.options.clusterProperties.sum[1]: unknown", "--cluster-property sum[1]: unknown"),
            ("params.options.projection.planar[2] must be above minX.", "--planar[2] must be above minX."),
            ("params.zoom must be a number.", "--zoom must be a number."),
            ("params.source must be a name: [a-z].", "SOURCE must be a name: [a-z]."),
            ("params.filter[1][0]: Expected number.", "--filter[1][0]: Expected number."),
            ("params.minZoom must be above.", "--min-zoom must be above."),
            (
                "A file \"a.pmtiles\" exists. Set params.overwrite to replace it, or choose another path.",
                "A file \"a.pmtiles\" exists. Set --overwrite to replace it, or choose another path."
            ),
            (
                "SourceService/PublishTiles needs the right \"manage\"",
                "'clusterctl publish' needs the right \"manage\""
            ),
            ("beyond 180: params.wrap wraps them around", "beyond 180: --wrap wraps them around"),
            (
                "no longitude column: name it with params.longitude",
                "no longitude column: name it with --longitude"
            ),
            ("Check the disk. 1.5 of a/b/GetClusters", "Check the disk. 1.5 of a/b/GetClusters"),
        ])
    func translation(_ message: String, _ expected: String) {
        #expect(DaemonMessage.text(message) == expected)
    }
}
