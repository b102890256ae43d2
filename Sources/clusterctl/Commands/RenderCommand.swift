// SPDX-License-Identifier: MIT
import Rendering
import ClusterClient
import CommandLineOptions
import Glibc
import JSON

/// `clusterctl render`: what a map of a box shows, as a picture.
enum RenderCommand: Subcommand {
    static let table = Command(
        "render", summary: "Draw the clusters in a box as a picture",
        details: [
            "Circles grow with the logarithm of the count; their colour changes at 100 and at 750 points. "
                + "The picture shows the whole box, and what lies beside it where its shape is another."
        ],
        operands: [CommandTable.source],
        options: [
            Option(
                "bbox", short: "b", value: "W,S,E,N",
                help: "the box in degrees: west, south, east, north; default: the world"),
            Option(
                "zoom", short: "z", value: "ZOOM", kind: .number(-100...100),
                help: "the zoom whose clusters are shown; default: that of the picture"),
            Option("size", value: "WxH", help: "the picture's size in pixels; default 1024x640"),
            Option(
                "output", short: "o", value: "FILE", kind: .file,
                help: "where to write it, as PNG or SVG by its ending; default: SVG to standard output"),
            .flag("hulls", help: "draw the area of each cluster's points"),
            .flag("heatmap", help: "draw a heat map, weighted by count, below the circles"),
            CommandTable.filter, CommandTable.revision,
        ],
        examples: [
            Example("clusterctl render cities -o world.png", "draws the world"),
            Example(
                "clusterctl render cities -b 5,47,16,55 --size 800x800 --hulls -o germany.svg",
                "draws a country with its clusters' areas"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let size = try size(invocation)
        let box =
            try arguments.string("bbox").map { try ClustersCommand.box($0, invocation) } ?? mercatorWorld
        let frame = PictureFrame(showing: box, width: size.width, height: size.height)
        var members: JSONObject = [
            "bbox": frame.box.json, "zoom": .number(arguments.number("zoom") ?? frame.zoom),
            "properties": .array([]),
        ]
        if arguments.has("hulls") { members["include"] = .array([.string("hull")]) }
        let answer = try await invocation.call(
            "ClusterService/GetClusters", try invocation.queryParams(members))
        let painter = MapPainter(
            frame: frame, features: try FeatureCollection(answer).features,
            showsHulls: arguments.has("hulls"), showsHeat: arguments.has("heatmap"))
        try write(painter, to: arguments.string("output") ?? "-", invocation)
    }

    /// As far north and south as a square map of the world goes.
    private static let mercatorWorld = BoundingBox(west: -180, south: -75, east: 180, north: 82)

    private static func write(_ painter: MapPainter, to path: String, _ invocation: Invocation) throws {
        let bytes: [UInt8]
        if path == "-" || path.hasSuffix(".svg") {
            bytes = painter.svg()
        } else if path.hasSuffix(".png") {
            bytes = try painter.png()
        } else {
            throw invocation.arguments.usageError(
                "invalid argument '\(path)' for '--output': .png or .svg is expected")
        }
        try OutputFile.write(bytes, to: path)
    }

    /// From 16 to 8192 pixels each way.
    private static func size(_ invocation: Invocation) throws -> (width: Int, height: Int) {
        guard let text = invocation.arguments.string("size") else { return (1024, 640) }
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], (16...8192).contains(width),
            (16...8192).contains(height)
        else {
            throw invocation.arguments.usageError(
                "invalid argument '\(text)' for '--size': WIDTHxHEIGHT is expected, from 16 to 8192 each")
        }
        return (width, height)
    }
}
