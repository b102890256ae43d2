// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import Glibc

/// A file in a format of GDAL. Its program ogr2ogr converts it to GeoJSON lines in longitude and latitude, and
/// spreadsheets to CSV.
enum ForeignFile {
    static let options: [Option] = [
        Option("layer", value: "NAME", help: "the layer of a file that GDAL reads"),
        Option(
            "source-crs", value: "CRS",
            help: "the reference system of a file that GDAL reads and that does not declare one"),
    ]

    /// The file name extensions of formats that GDAL reads.
    static let endings =
        [
            "shp", "gpkg", "fgb", "kml", "kmz", "gpx", "gml", "tab", "mif", "sqlite", "gdb", "zip", "osm", "pbf", "dxf",
            "topojson",
        ] + spreadsheets + ArrowFile.endings
    private static let spreadsheets = ["xlsx", "ods", "xls"]

    /// Whether GDAL reads a file, by its extension or its first bytes or because --layer is given.
    static func isForeign(_ path: String, _ arguments: ParsedArguments) -> Bool {
        if arguments.string("layer") != nil || arguments.string("source-crs") != nil { return true }
        return endings.contains(ending(of: path)) || isDatabase(path)
    }

    /// Whether a file is a GeoPackage or another SQLite database, whatever its name. Pipes are not read.
    private static func isDatabase(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var head = [UInt8](repeating: 0, count: 16)
        return read(descriptor, &head, head.count) == head.count && head.starts(with: "SQLite format 3".utf8)
    }

    private static func ending(of path: String) -> String {
        path.lastIndex(of: ".").map { path[path.index(after: $0)...].lowercased() } ?? ""
    }

    /// Whether a file's features have numbers that stay the same when it changes, such as a GeoPackage's
    /// `fid`. Those become their ids. The numbers of other formats are positions in the file.
    private static func hasKeys(_ path: String) -> Bool {
        ending(of: path) == "gdb" || isDatabase(path)
    }

    /// Starts reading a file.
    static func open(_ path: String, _ arguments: ParsedArguments) throws -> FeatureInput {
        guard access(path, R_OK) == 0 else { throw FeatureInputError(name: path, number: errno) }
        if ArrowFile.endings.contains(ending(of: path)), let input = try ArrowFile.open(path, arguments) {
            return input
        }
        guard let program = Program.find("ogr2ogr") else {
            throw Failure(
                message:
                    "\(path) is read through GDAL's ogr2ogr, which is not installed: 'apt install gdal-bin' on Debian "
                    + "and Ubuntu, 'dnf install gdal' on Fedora, 'brew install gdal' on macOS; or convert the file to "
                    + "GeoJSON elsewhere")
        }
        let dataset = path.lowercased().hasSuffix(".zip") ? "/vsizip/\(path)" : path
        let layer = try layer(of: dataset, path, arguments)
        var words = ["-f", "GeoJSONSeq", "-t_srs", "EPSG:4326"]
        if spreadsheets.contains(ending(of: path)) {
            // Rows of cells without geometries: the reader of tables finds the position.
            words = ["--config", "OGR_XLSX_HEADERS", "FORCE", "--config", "OGR_ODS_HEADERS", "FORCE"]
            words += ["--config", "OGR_XLS_HEADERS", "FORCE", "-f", "CSV"]
        } else {
            if let system = arguments.string("source-crs") { words += ["-s_srs", system] }
            if let id = arguments.string("id") {
                words += ["-lco", "ID_FIELD=\(id)"]
            } else if hasKeys(path) {
                words.append("-preserve_fid")
            }
        }
        words += ["/vsistdout/", dataset] + (layer.map { [$0] } ?? [])
        guard let process = ChildProcess(program, words) else {
            throw Failure(message: "\(program) cannot be started: \(String(cString: strerror(errno)))")
        }
        return FeatureInput(descriptor: process.output, name: path) { bytesRead in
            guard process.wait() == 0 else {
                throw Failure(message: explained(process.lastErrors(), path, dataset))
            }
            guard bytesRead == 0, let layer else { return }
            let others = layerNames(of: dataset).filter { $0 != layer }
            guard !others.isEmpty else { return }
            throw Failure(
                message: "\(path) has no features in its layer \(layer): choose another with --layer from "
                    + others.joined(separator: ", "))
        }
    }

    private static func explained(_ errors: String, _ path: String, _ dataset: String) -> String {
        if errors.contains("requested layer") {
            let names = layerNames(of: dataset).joined(separator: ", ")
            return "\(path) has no such layer: choose one with --layer" + (names.isEmpty ? "" : " from \(names)")
        }
        // The message is broken into lines, of which only the last are here.
        if errors.contains("Use -s_srs") || errors.contains("Can't transform coordinates") {
            return "\(path) does not say which reference system its coordinates are in: name it, for example with "
                + "--source-crs EPSG:25832"
        }
        return "\(path): ogr2ogr has failed: \(errors)"
    }

    /// The requested layer. It is required if the file has several.
    private static func layer(of dataset: String, _ path: String, _ arguments: ParsedArguments) throws -> String? {
        if let layer = arguments.string("layer") { return layer }
        let names = layerNames(of: dataset)
        guard names.count > 1 else { return nil }
        // A GPX file always lists all layers. Most users need the waypoints.
        if path.lowercased().hasSuffix(".gpx"), names.contains("waypoints") { return "waypoints" }
        throw Failure(message: "\(path) has the layers \(names.joined(separator: ", ")): choose one with --layer")
    }

    /// The layers of a file; empty if ogrinfo is not installed.
    private static func layerNames(of dataset: String) -> [String] {
        guard let program = Program.find("ogrinfo"),
            let process = ChildProcess(program, ["-ro", "-q", dataset])
        else { return [] }
        // Lines such as `1: towns (Point)`.
        return process.readAll().split(separator: "\n").compactMap { line in
            guard let rest = line.wholeMatch(of: /\d+: *(.*)/)?.output.1 else { return nil }
            return String(rest.wholeMatch(of: /(.*) \(.*/)?.output.1 ?? rest)
        }
    }
}
