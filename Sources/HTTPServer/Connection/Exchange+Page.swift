// SPDX-License-Identifier: MIT
import Compression
import JSON

/// Serves the map page and its files.
extension Exchange {
    func answerMap() throws(RequestFailure) {
        let assets = server.service.assets
        guard let page = assets.asset("index.html") else {
            throw RequestFailure(
                .notFound,
                "The map page's files are not installed: they belong to PREFIX/share/clusterd/web. The other resources work without them."
            )
        }
        guard assets.hasLeaflet else { return answerMissingLeaflet(assets.leafletDirectory) }
        send(page, fields: [("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer")])
    }

    func answerAsset(_ name: String) throws(RequestFailure) {
        if name == "settings.json" { return answerSettings() }
        guard let asset = server.service.assets.asset(name) else {
            throw RequestFailure(.notFound, "There is no such asset.")
        }
        send(asset)
    }

    private func send(_ asset: AssetStore.Asset, fields: [(name: StaticString, value: String)] = []) {
        if let match = head.first(.ifNoneMatch, asset.tag.match) {
            var head = notModified(asset.tag, match, .encoding, cacheControl: "no-cache")
            // A browser replaces the fields that it has stored: the policy follows the configuration.
            head.fields = fields
            return send(head)
        }
        let packed = acceptsGzip ? asset.gzipped : nil
        let body = packed ?? asset.body
        var head = ResponseHead(
            status: .ok, length: .bytes(body.count), mediaType: asset.mediaType, etag: asset.tag,
            isGzipped: packed != nil)
        head.cacheControl = "no-cache"
        head.vary = server.rules.vary(.encoding)
        head.fields = fields
        send(head, body.span, keeping: asset)
    }

    /// Answers with a tile of the ground, which is below the page's circles and for maps of others, or with their
    /// TileJSON.
    func answerGround(_ place: GroundPlace?) throws(RequestFailure) {
        guard let (tiles, file) = server.service.assets.groundTiles() else {
            throw RequestFailure(
                .notFound, "The ground's tiles are not installed: they belong to PREFIX/share/clusterd/web/ground.")
        }
        guard let place else { return answerGroundDescription(head) }
        guard place.isInWorld else {
            throw RequestFailure(.notFound, "The ground has no such tile: its zooms are 0 to \(GroundTiles.maxZoom).")
        }
        let tag = EntityTag(process: 0, revision: file.request, request: EntityTag.hash(head.target))
        if let match = head.first(.ifNoneMatch, tag.match) {
            return send(notModified(tag, match, .encoding, cacheControl: Self.groundAge))
        }
        let packed = tiles.tile(place).map(Array.init) ?? []
        let inflated =
            acceptsGzip || packed.isEmpty
            ? nil : try? Zlib.inflate(packed, format: .gzip, limit: Self.mostGroundTileBytes)
        let body = inflated ?? packed
        var answer = ResponseHead(
            status: body.isEmpty ? .noContent : .ok, length: body.isEmpty ? .none : .bytes(body.count),
            mediaType: body.isEmpty ? nil : GroundTiles.mediaType, etag: tag,
            isGzipped: inflated == nil && !body.isEmpty)
        answer.cacheControl = Self.groundAge
        answer.vary = server.rules.vary(.encoding)
        send(answer, body.span)
    }

    private static let mostGroundTileBytes = 1 << 20
    private static let groundAge = "public, max-age=86400"

    private func answerGroundDescription(_ head: RequestHead) {
        let url = "\(scheme(head))://\(head.host ?? "localhost")/ground/{z}/{x}/{y}.mvt"
        let layers = ["land", "lake", "urban", "river", "border", "place"]
        let place: JSONObject = ["name": .string("String"), "rank": .string("Number"), "capital": .string("Boolean")]
        let description: JSONObject = [
            "tilejson": .string("3.0.0"), "name": .string("ground"), "tiles": .array([.string(url)]),
            "minzoom": .number(0), "maxzoom": .number(Double(GroundTiles.maxZoom)),
            "attribution": .string("Natural Earth"),
            "vector_layers": .array(
                layers.map { .object(["id": .string($0), "fields": .object($0 == "place" ? place : [:])]) }),
        ]
        send(.object(description))
    }

    private func send(_ document: JSONValue) {
        var bytes = ByteWriter()
        bytes.append(document)
        var head = ResponseHead(status: .ok, length: .bytes(bytes.count), mediaType: "application/json")
        head.cacheControl = "no-cache"
        head.vary = server.rules.vary(.none)
        bytes.withBytes { send(head, $0) }
    }

    /// Answers with the settings that the page needs.
    private func answerSettings() {
        var basemap = JSONValue.null
        if let map = server.rules.settings.basemap {
            basemap = ["url": .string(map.url), "attribution": .string(map.attribution)]
        }
        send(["basemap": basemap])
    }

    /// The content security policy: the page loads only from this daemon and the configured raster layer.
    private var policy: String {
        var images = "'self' data:"
        if let url = server.rules.settings.basemap?.url, let site = Self.site(of: url) {
            images += " \(site)"
        }
        return
            "default-src 'self'; img-src \(images); style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors \(server.rules.origins.frames)"
    }

    /// The scheme and authority of a URL; a placeholder for subdomains matches any.
    private static func site(of url: String) -> String? {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "https:" || parts[0] == "http:", parts[1].isEmpty else {
            return nil
        }
        let authority = parts[2].hasPrefix("{s}.") ? "*." + parts[2].dropFirst(4) : String(parts[2])
        guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") })
        else {
            return nil
        }
        return "\(parts[0])//\(authority)"
    }

    private func answerMissingLeaflet(_ directory: String) {
        let page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>clusterd</title></head><body>
            <h1>The map needs Leaflet</h1>
            <p>It was looked for in <code>\(Self.escaped(directory))</code>. On Debian: <code>apt install libjs-leaflet</code>.
            Elsewhere let <code>http.assets</code> name the directory that has <code>leaflet.js</code> and
            <code>leaflet.css</code>. <a href="/sources">The sources</a> are served without it.</p>
            </body></html>

            """
        let body = Array(page.utf8)
        var head = ResponseHead(
            status: .ok, length: .bytes(body.count), mediaType: "text/html; charset=utf-8")
        head.cacheControl = "no-store"
        head.fields.append(("Content-Security-Policy", "default-src 'none'"))
        send(head, body.span)
    }

    private static func escaped(_ text: String) -> String {
        text.map { ["<": "&lt;", ">": "&gt;", "&": "&amp;"][$0] ?? String($0) }.joined()
    }
}
