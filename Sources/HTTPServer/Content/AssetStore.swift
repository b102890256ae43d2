// SPDX-License-Identifier: MIT
import Glibc
import Synchronization
import SystemSupport

/// The map page's files: its own from the installation or the source tree, Leaflet's from its package. Files are
/// read on request and cached while they do not change. Safe from any thread.
final class AssetStore: Sendable {
    /// A file's content.
    final class Asset: Sendable {
        let body: [UInt8]
        let gzipped: [UInt8]?
        let mediaType: StaticString
        fileprivate let stamp: Stamp
        let tag: EntityTag

        fileprivate init(body: [UInt8], mediaType: StaticString, isText: Bool, stamp: Stamp) {
            self.body = body
            self.mediaType = mediaType
            self.stamp = stamp
            let packed = isText && body.count >= PlainEncoder.leastBytes ? Gzip.compress(body.span, level: 6) : []
            gzipped = packed.isEmpty ? nil : packed
            // The tag is computed from the content: it is the same in every process.
            tag = EntityTag(process: 0, revision: UInt64(body.count), request: EntityTag.hash(body))
        }
    }

    fileprivate struct Stamp: Equatable {
        let inode: UInt64
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let pages: String?
    private let leaflet: Mutex<String>
    private let kept = Mutex<[String: Asset]>([:])
    /// The ground's tiles, and the tag of the file from which they were read.
    private let ground = Mutex<(tiles: GroundTiles, tag: EntityTag)?>(nil)

    /// The maximum size in bytes of a served file.
    private static let mostBytes = 8 << 20

    /// - Parameters:
    ///   - pages: the directory of the page's own files; nil if there is none.
    ///   - leaflet: the directory of Leaflet's files.
    init(pages: String? = AssetStore.pagesDirectory(), leaflet: String) {
        self.pages = pages
        self.leaflet = Mutex(leaflet)
    }

    func setLeaflet(_ directory: String) { leaflet.withLock { $0 = directory } }

    var hasLeaflet: Bool { asset("leaflet/leaflet.js") != nil && asset("leaflet/leaflet.css") != nil }
    var leafletDirectory: String { leaflet.withLock { $0 } }

    /// The file with a name below `/assets/`; nil if there is none.
    func asset(_ name: String) -> Asset? {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy(Self.isPlain), let file = parts.last, let type = Self.type(of: file) else {
            return nil
        }
        let path: String
        if parts.first == "leaflet" {
            path = ([leafletDirectory] + parts.dropFirst().map(String.init)).joined(separator: "/")
        } else {
            guard let pages else { return nil }
            path = "\(pages)/\(name)"
        }
        return read(path, type)
    }

    /// The tiles of the map page's ground, and the tag of the file that has them; nil if it is missing or damaged.
    func groundTiles() -> (tiles: GroundTiles, tag: EntityTag)? {
        guard let file = asset("ground/ground.pmtiles") else { return nil }
        if let found = ground.withLock({ $0 }), found.tag == file.tag { return found }
        guard let tiles = GroundTiles(file.body) else { return nil }
        ground.withLock { $0 = (tiles, file.tag) }
        return (tiles, file.tag)
    }

    /// Whether a name cannot leave its directory: not empty, no leading dot, no separators.
    private static func isPlain(_ part: Substring) -> Bool {
        guard let first = part.utf8.first, first != UInt8(ascii: ".") else { return false }
        return part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "/") }
    }

    private static func type(of file: Substring) -> (name: StaticString, isText: Bool)? {
        switch file.split(separator: ".").last {
        case "html": ("text/html; charset=utf-8", true)
        case "js", "mjs": ("text/javascript; charset=utf-8", true)
        case "css": ("text/css; charset=utf-8", true)
        case "svg": ("image/svg+xml", true)
        case "png": ("image/png", false)
        case "ico": ("image/x-icon", false)
        case "json", "map", "webmanifest": ("application/json", true)
        case "geojson": ("application/geo+json", true)
        case "pmtiles": ("application/vnd.pmtiles", false)
        case "woff2": ("font/woff2", false)
        case "txt": ("text/plain; charset=utf-8", true)
        default: nil
        }
    }

    private func read(_ path: String, _ type: (name: StaticString, isText: Bool)) -> Asset? {
        var status = stat()
        guard let file = try? FileDescriptor(reading: path), fstat(file.number, &status) == 0,
            status.st_size <= Self.mostBytes
        else { return nil }
        let stamp = Stamp(
            inode: UInt64(status.st_ino), size: Int(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
        if let found = kept.withLock({ $0[path] }), found.stamp == stamp { return found }
        guard let body = try? FileIO.read(stamp.size, from: file, at: 0, path: path), body.count == stamp.size
        else { return nil }
        let asset = Asset(body: body, mediaType: type.name, isText: type.isText, stamp: stamp)
        kept.withLock { $0[path] = asset }
        return asset
    }

    /// The directory of the map page: that of the installation, else that of the source tree.
    static func pagesDirectory(_ program: String? = Installation.program) -> String? {
        Installation.path(of: "web/index.html", source: "web/index.html", program: program).map(Installation.parent)
    }
}
