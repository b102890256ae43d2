// SPDX-License-Identifier: MIT
import Bench
import ClusterClient
import CommandLineOptions
import JSON

/// `clusterctl generate`: synthetic points for tests at scale.
enum GenerateCommand: Subcommand {
    static let table = Command(
        "generate", summary: "Write synthetic points as GeoJSON",
        details: [
            "KIND is uniform (evenly over the map), gathered (round towns of very unequal size, as people live) or "
                + "duplicates (locations that break implementations). The same kind, count and seed give the same "
                + "points; each has a name, a category, a value and a score."
        ],
        operands: [
            Operand("KIND", kind: kinds, count: .optional, default: "gathered", help: "how they lie"),
            Operand("COUNT", kind: counts, count: .optional, default: "1000", help: "how many"),
        ],
        options: [
            Option("kind", short: "k", value: "KIND", kind: kinds, help: "the same as the operand"),
            Option("count", short: "n", value: "COUNT", kind: counts, help: "the same as the operand"),
            Option(
                "seed", value: "N", kind: .integer(0...Int64.max), default: "1",
                help: "another seed gives other points"),
            Option(
                "file", short: "o", value: "FILE", kind: .file, defaultInWords: "standard output",
                help: "the file"),
            .flag("lines", short: "l", help: "write one feature per line instead of a FeatureCollection"),
        ],
        examples: [
            Example("clusterctl generate gathered 1000000 -o million.geojson", "writes 171 MiB"),
            Example("clusterctl generate uniform 100000 | clusterctl import random", "imports at once"),
        ])

    private static let kinds = ValueKind.oneOf(SyntheticPoints.Kind.allCases.map(\.rawValue))
    private static let counts = ValueKind.integer(0...1_000_000_000)
    private static let pieceSize = 1 << 20

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard let kind = try choose("kind", or: 0, arguments).flatMap(SyntheticPoints.Kind.init),
            let count = try choose("count", or: 1, arguments).flatMap({ Int($0) })
        else {
            throw arguments.usageError("invalid operands")
        }
        let seed = UInt64(try arguments.requiredInteger("seed"))
        let file = try OutputFile(arguments.string("file"))
        try write(SyntheticPoints(kind: kind, seed: seed), count, asLines: arguments.has("lines"), to: file)
        try file.finish()
    }

    /// The option's value or the operand's; an error if both are given and differ.
    private static func choose(_ option: String, or index: Int, _ arguments: ParsedArguments) throws -> String? {
        guard let given = arguments.string(option) else { return arguments.operand(index) }
        if index < arguments.operands.count, let operand = arguments.operand(index), operand != given {
            throw arguments.usageError("operand '\(operand)' contradicts '--\(option)=\(given)'")
        }
        return given
    }

    private static func write(_ points: SyntheticPoints, _ count: Int, asLines: Bool, to file: OutputFile) throws {
        var points = points
        var writer = ByteWriter(capacity: pieceSize + 4096)
        if !asLines { writer.append("{\"type\":\"FeatureCollection\",\"features\":[\n") }
        for index in 0..<count {
            points.write(index, into: &writer)
            if asLines || index == count - 1 { writer.append("\n") } else { writer.append(",\n") }
            guard writer.count >= pieceSize else { continue }
            try file.write(writer.bytes)
            writer.truncate(to: 0)
        }
        if !asLines { writer.append("]}\n") }
        try file.write(writer.bytes)
    }
}
