// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import JSON
import SystemSupport

/// A file of columns: Parquet, GeoParquet or Arrow. Python's pyarrow reads it, else GDAL if that can.
enum ArrowFile {
    static let endings = ["parquet", "geoparquet", "arrow", "feather"]

    /// Starts reading a file.
    ///
    /// - Returns: nil if GDAL has to read it: pyarrow is missing and GDAL has the format, or the command names a layer.
    static func open(_ path: String, _ arguments: ParsedArguments) throws -> FeatureInput? {
        if arguments.string("layer") != nil || arguments.string("source-crs") != nil { return nil }
        guard let python = python, runs(python, ["-c", probing]) else {
            guard !gdalReads(path) else { return nil }
            throw Failure(
                message:
                    "\(path) needs pyarrow, which is not installed: pip install 'clusterd[arrow]', or pip install pyarrow "
                    + "where clusterd is not from pip; or convert the file to GeoJSON or CSV elsewhere")
        }
        var columns: JSONObject = ["path": .string(path)]
        for name in ["longitude", "latitude", "id"] {
            if let column = arguments.string(name) { columns[name] = .string(column) }
        }
        let source = Installation.path(of: "clients/python/src/clusterd", source: "clients/python/src/clusterd")
        let words = ["-c", reading, JSONValue.object(columns).text, source.map(Installation.parent) ?? ""]
        guard let process = ChildProcess(python, words) else {
            throw Failure(message: "\(python) cannot be started")
        }
        return FeatureInput(descriptor: process.output, name: path) { _ in
            guard process.wait() != 0 else { return }
            throw Failure(message: "\(path): \(process.lastErrors(1))")
        }
    }

    /// The Python that has started this program from its wheel, else the one on PATH.
    private static var python: String? {
        let own = Terminal.environment("CLUSTERD_PYTHON") ?? ""
        return own.isEmpty ? Program.find("python3") : own
    }

    private static let probing =
        "import importlib.util, sys; sys.exit(importlib.util.find_spec('pyarrow') is None)"

    /// Runs the Python client's converter; the client of this installation, unless Python has one of its own.
    private static let reading = """
        import json, sys
        if sys.argv[2]: sys.path.append(sys.argv[2])
        try: from clusterd import _lines
        except ImportError: sys.exit("the Python client is missing: pip install 'clusterd[arrow]'")
        _lines.write(**json.loads(sys.argv[1]))
        """

    private static func runs(_ program: String, _ words: [String]) -> Bool {
        ChildProcess(program, words)?.wait() == 0
    }

    private static func gdalReads(_ path: String) -> Bool {
        guard let program = Program.find("ogrinfo"),
            let formats = ChildProcess(program, ["--formats"])?.readAll()
        else { return false }
        return formats.contains(path.lowercased().hasSuffix("parquet") ? "Parquet -vector-" : "Arrow -vector-")
    }
}
