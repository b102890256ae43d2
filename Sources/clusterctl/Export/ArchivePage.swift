// SPDX-License-Identifier: MIT
import Glibc
import JSON
import SystemSupport

/// A page beside a published archive, which shows it from any web server: `index.html`, and a folder with its scripts,
/// styles and ground.
struct ArchivePage {
    private let archive: String
    /// The folder of the page's files in the installation.
    private let files: String
    private let manifest: JSONValue
    /// The folder of Leaflet's files.
    private let leaflet: String

    /// - Parameter archive: the archive's path; the page comes into its folder.
    init(for archive: String) throws {
        guard let path = Installation.path(of: "web/published.json", source: "web/published.json") else {
            throw Failure(message: "the page's files are not installed: they belong to PREFIX/share/clusterd/web")
        }
        let script = Installation.path(of: "leaflet/leaflet.js") ?? "/usr/share/javascript/leaflet/leaflet.js"
        guard access(script, R_OK) == 0 else {
            throw Failure(message: "the page needs Leaflet: install libjs-leaflet")
        }
        self.archive = archive
        files = Installation.parent(path)
        manifest = try JSONReader.parse(SmallFile.read(path))
        leaflet = Installation.parent(script)
    }

    private var folder: String { Installation.parent(archive) }
    var path: String { folder + "/index.html" }

    /// Throws if a page exists and may not be replaced.
    func check(overwrite: Bool) throws {
        guard !overwrite, access(path, F_OK) == 0 else { return }
        throw Failure(message: "\(path) exists; --overwrite replaces it")
    }

    /// Writes the page and its files.
    func write() throws {
        let assets = "\(folder)/\(manifest["folder"]?.asString ?? "map")"
        for name in Self.names(manifest["files"]) { try copy("\(files)/\(name)", to: "\(assets)/\(name)") }
        for name in Self.names(manifest["leaflet"]) {
            try copy("\(leaflet)/\(name)", to: "\(assets)/leaflet/\(name)")
        }
        let page = try SmallFile.read("\(files)/\(manifest["page"]?.asString ?? "")")
        let address = Self.address(of: name(archive))
        let text = page.replacing("content=\"ARCHIVE\"", with: "content=\"\(address)\"")
        try OutputFile.write(Array(text.utf8), to: path)
    }

    private static func names(_ list: JSONValue?) -> [String] { (list?.asArray ?? []).compactMap(\.asString) }

    private func copy(_ source: String, to target: String) throws {
        var directory = folder
        for part in name(target).split(separator: "/").dropLast() {
            directory += "/" + part
            guard mkdir(directory, 0o777) == 0 || errno == EEXIST else {
                throw Failure(message: "\(directory): \(String(cString: strerror(errno)))")
            }
        }
        try OutputFile.write(SmallFile.bytes(source), to: target)
    }

    /// The path of a file relative to the page.
    private func name(_ path: String) -> String {
        String(decoding: path.utf8.dropFirst(folder.utf8.count + 1), as: UTF8.self)
    }

    /// A file's name as an address relative to the page.
    private static func address(of name: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return "./"
            + name.utf8.map { byte -> String in
                let character = Character(UnicodeScalar(byte))
                if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                    return String(character)
                }
                return "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }.joined()
    }
}
