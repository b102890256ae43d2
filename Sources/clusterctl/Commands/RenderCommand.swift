// SPDX-License-Identifier: MIT
import Rendering
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON
import SystemSupport

/// `clusterctl render`: what a map of a box shows, as a picture.
enum RenderCommand: Subcommand {
    static let table = Command(
        "render", summary: "Draw the clusters in a box as a picture",
        details: [
            "Circles grow with the logarithm of the count; their colour changes at 100 and at 750 points. "
                + "The map shows the whole box, on land and borders (Natural Earth, public domain) with a graticule; a "
                + "source on a plane, in units of the plane."
        ], operands: [.source],
        options: [
            .param(.bbox, short: "b", defaultInWords: "that of the source's points"),
            .param(.zoom, short: "z", defaultInWords: "that of the picture"),
            Option("size", value: "WxH", default: "1024x640", help: "the picture's size in pixels"),
            Option(
                "file", short: "o", value: "FILE", kind: .file, defaultInWords: "SVG to standard output",
                help: "the file to write, as PNG, SVG or PDF by its ending"),
            Option(
                "title", short: "t", value: "TEXT", defaultInWords: "the source's name", help: "the picture's title"),
            .flag("plain", help: "leave out title, labels and legend: the map fills the picture"),
            .flag("hulls", help: "draw the area of each cluster's points"),
            .flag("heatmap", help: "draw a heat map, weighted by count, above the circles"),
        ] + ([.window, .pin] + ParamDeclaration.data).map { Option.param($0) },
        examples: [
            Example("clusterctl render cities -o world.png", "draws the world"),
            Example(
                "clusterctl render cities -b 5,47,16,55 --size 800x800 --hulls -o germany.svg",
                "draws a country with its clusters' areas"),
            Example("clusterctl render cities --window founded,,1500 -o old.png", "draws old cities only"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        // Fontconfig's settings of an installation that brings its own font. The user's own come first.
        if let fonts = Installation.path(of: "fonts/fonts.conf") { setenv("FONTCONFIG_FILE", fonts, 0) }
        let path = arguments.string("file") ?? "-"
        let (size, format) = (try size(invocation), try format(of: path, invocation))
        let asked = try arguments.string("bbox").map(invocation.box)
        let client = try await invocation.connect()
        defer { client.close() }
        let description = try await client.source(try invocation.operand(0))
        let projection = MapProjection(options: description.options)
        var picture = MapPicture(
            showing: asked ?? fitting(description) ?? projection.standardBox, width: size.width, height: size.height,
            isPlain: arguments.has("plain"), projection: projection)
        picture.showsHulls = arguments.has("hulls")
        picture.showsHeat = arguments.has("heatmap")
        picture.title = try arguments.string("title") ?? invocation.operand(0)
        let zoom = arguments.number("zoom") ?? picture.frame.zoom
        var members: JSONObject = ["bbox": picture.frame.box.json, "zoom": .number(zoom), "properties": .array([])]
        if arguments.has("hulls") { members["include"] = .array([.string("hull")]) }
        let answer = try await client.call(
            "ClusterService/GetClusters", CallParams(try invocation.params(of: .getClusters).with(members)),
            options: invocation.callOptions)
        let collection = try FeatureCollection(answer)
        picture.caption = caption(collection, zoom: zoom)
        try OutputFile.write(picture.draw(collection.features, as: format), to: path)
    }

    /// The box of the source's points with a margin; nil if there are none.
    private static func fitting(_ description: SourceDescription) -> BoundingBox? {
        guard let box = BoundingBox(description.json["bbox"]) else { return nil }
        let isPlane = description.options["projection"]?.asObject != nil
        // A point by itself gets some ground around it.
        let least = isPlane ? 1e-3 * max(abs(box.west), abs(box.south), 1) : 0.01
        let (wide, high) = (max((box.east - box.west) * 0.05, least), max((box.north - box.south) * 0.05, least))
        return BoundingBox(
            west: box.west - wide, south: box.south - high, east: box.east + wide, north: box.north + high)
    }

    private static func caption(_ collection: FeatureCollection, zoom: Double) -> String {
        let clusters = collection.features.compactMap(\.cluster)
        let points = collection.features.count - clusters.count
        let all = clusters.reduce(points) { $0 + $1.pointCount }
        return "zoom \(Quantity.plain((zoom * 10).rounded() / 10)) · \(Quantity.count(all, "point")) in "
            + "\(Quantity.count(clusters.count, "cluster")), \(Quantity.grouped(points)) alone"
    }

    private static func format(of path: String, _ invocation: Invocation) throws -> PictureFormat {
        if path == "-" { return .svg }
        let ending = path.split(separator: ".").last.map { String($0).lowercased() } ?? ""
        guard path.contains("."), let format = PictureFormat(rawValue: ending) else {
            throw invocation.arguments.usageError(
                "invalid argument '\(path)' for '--file': a name that ends in .png, .svg or .pdf is expected")
        }
        return format
    }

    /// From 16 to 8192 pixels each way.
    private static func size(_ invocation: Invocation) throws -> (width: Int, height: Int) {
        let text = try invocation.arguments.requiredString("size")
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
