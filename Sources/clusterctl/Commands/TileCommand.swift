// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON

/// `clusterctl tile`: the features of a map tile.
enum TileCommand: Subcommand {
    static let table = Command(
        "tile", summary: "Show the features of a map tile",
        operands: [
            .source,
            Operand("Z/X/Y", help: "the tile's zoom, column and row; or as three operands"),
            Operand("X", count: .optional, help: "its column"),
            Operand("Y", count: .optional, help: "its row"),
        ],
        options: [
            Option(
                "mvt", value: "FILE", kind: .file,
                help: "write a Mapbox Vector Tile to a file; - for standard output")
        ] + Option.params(of: .getTile, without: [.tileZoom, .tileColumn, .tileRow, .encoding]),
        examples: [
            Example("clusterctl tile cities 2/1/1", "shows what is in the tile 2/1/1"),
            Example("clusterctl tile cities 2/1/1 --mvt tile.mvt", "writes it as a vector tile"),
            Example("clusterctl tile cities 2/1/1 --grid 4", "shows how many points its 256 squares have"),
        ])

    static func run(_ invocation: Invocation) async throws {
        var members: JSONObject = [:]
        let operands = invocation.arguments.operands.dropFirst()
        guard let tile = TileOperand(operands.joined(separator: "/")) else {
            throw invocation.arguments.usageError(
                "invalid tile '\(operands.joined(separator: " "))': Z/X/Y is expected, Z from 0 to 30")
        }
        members["z"] = .number(Double(tile.z))
        members["x"] = .number(Double(tile.x))
        members["y"] = .number(Double(tile.y))
        if invocation.arguments.has("mvt") { members["encoding"] = .string("mvt") }
        let answer = try await invocation.call(.getTile, with: members)
        if let path = invocation.arguments.string("mvt"), !invocation.wantsJSON {
            return try write(try answer.value()["tile"]?.asString ?? "", to: path)
        }
        if invocation.form == .csv { return invocation.print(table(try answer.value())) }
        try invocation.show(answer) { value in invocation.print(table(value)) }
    }

    private static func table(_ tile: JSONValue) -> Table {
        var table = Table([.text("ID"), .number("X"), .number("Y"), .flexible("TAGS")])
        for feature in tile["features"]?.asArray ?? [] {
            var position = feature["geometry"]?.asArray?.first?.asArray ?? []
            // Of a polygon the upper left corner.
            if let corner = position.first?.asArray { position = corner }
            table.add(
                [feature["id"].map { $0.asString ?? $0.text } ?? ""]
                    + (0..<2).map { position.count > $0 ? position[$0].text : "" }
                    + [FeatureTable.properties(feature["tags"]?.asObject?.members ?? [])])
        }
        return table
    }

    private static func write(_ base64: String, to path: String) throws {
        guard let bytes = Base64.decode(Array(base64.utf8).span) else {
            throw Failure(message: "the daemon's tile is not base64")
        }
        try OutputFile.write(bytes, to: path)
    }
}

/// A tile's zoom, column and row, written as in a tile server's addresses.
struct TileOperand: Equatable {
    let z: Int64
    let x: Int64
    let y: Int64

    /// Nil if the text is not `Z/X/Y`. The daemon checks the ranges.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 3, let z = parts[0], let x = parts[1], let y = parts[2], (0...30).contains(z)
        else { return nil }
        self.z = z
        self.x = x
        self.y = y
    }
}
