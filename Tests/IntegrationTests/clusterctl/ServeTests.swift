// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// `clusterctl serve` from its start to the signal that ends it.
@Suite("clusterctl serve")
struct ServeTests {
    private static let cities = Repository.root
        .appendingPathComponent("Examples/cities.geojson").path

    /// Runs a command until its output has the page's address, then asks the page's daemon, sends a signal to the
    /// command and waits until nothing of it is left.
    private static let driver = #"""
        import atexit, json, os, signal, subprocess, sys, urllib.request
        program, number, *arguments = sys.argv[1:]
        process = subprocess.Popen([program, "serve", "--json", "--no-open", *arguments], stdout=subprocess.PIPE, text=True)
        atexit.register(process.kill)  # after a failure too; the command's keeper then ends its daemon
        page = json.loads(process.stdout.readline())
        base = page["url"].split("?")[0]
        with urllib.request.urlopen(page["url"], timeout=30) as answer:
            assert b"<title>clusterd</title>" in answer.read(), "the map page"
        with urllib.request.urlopen(base + "sources", timeout=30) as answer:
            sources = {one["source"]: one["points"] for one in json.load(answer)["sources"]}
        with urllib.request.urlopen(base + "assets/settings.json", timeout=30) as answer:
            basemap = json.load(answer)["basemap"]
        daemons = subprocess.run(["pgrep", "-f", os.environ["TMPDIR"] + "/clusterctl-serve-"], capture_output=True, text=True).stdout.split()
        folders = [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("clusterctl-serve-")]
        process.send_signal(int(number))
        status = process.wait(timeout=60)
        for one in daemons:
            while os.path.exists(f"/proc/{one}") and open(f"/proc/{one}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
                os.sched_yield()
        left = [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("clusterctl-serve-")]
        while left and int(number) == signal.SIGKILL:  # the keeper removes it after the daemon's end
            left = [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("clusterctl-serve-")]
        print(json.dumps({"sources": sources, "named": page["sources"], "folders": len(folders), "left": left, "status": status, "url": page["url"], "basemap": basemap}))
        """#

    private func serve(_ files: [String], signal: Int32, in folder: String) throws -> String {
        let program = DaemonProcess.products.appendingPathComponent("clusterctl").path
        let result = try DaemonProcess.run(
            "/usr/bin/env", ["python3", "-c", Self.driver, program, String(signal)] + files,
            environment: ["TMPDIR": folder])
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = "/tmp/serve-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test(
        "serves the files until a signal ends it, and leaves nothing behind", .timeLimit(.minutes(5)),
        arguments: [SIGINT, SIGTERM, SIGKILL])
    func ends(signal: Int32) throws {
        try withFolder { folder in
            let other = folder + "/my shops (old).ndjson"
            try #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":null}"#
                .write(
                    toFile: other, atomically: true, encoding: .utf8)
            let output = try serve([Self.cities, other], signal: signal, in: folder)
            #expect(output.contains(#""sources": {"cities": 505, "my-shops-old": 1}"#), "\(output)")
            #expect(output.contains(#""folders": 1, "left": []"#), "\(output)")
            #expect(output.contains("\"status\": \(signal == SIGKILL ? -SIGKILL : 0)"), "\(output)")
        }
    }

    @Test("one file is the page's source") func one() throws {
        try withFolder { folder in
            let output = try serve([Self.cities], signal: SIGINT, in: folder)
            #expect(output.contains("/?source=cities\""), "\(output)")
        }
    }

    @Test("without a file it shows the sample, and leaves nothing behind") func sample() throws {
        try withFolder { folder in
            let output = try serve([], signal: SIGINT, in: folder)
            #expect(output.contains(#""sources": {"cities": 505}"#), "\(output)")
            #expect(output.contains(#""left": []"#), "\(output)")
        }
    }

    /// The daemon's own answers are the remote files.
    @Test("it shows what web servers have, by the names in their addresses") func remote() throws {
        let daemon = try DaemonProcess(http: "")
        let made = try DaemonProcess.run("clusterctl", ["--socket", daemon.socketPath, "import", "towns", Self.cities])
        #expect(made.status == 0, "\(made.errors)")
        let base = "http://127.0.0.1:\(daemon.httpPort)/sources/towns"
        try withFolder { folder in
            let output = try serve([base + "/clusters?zoom=20", Self.cities], signal: SIGINT, in: folder)
            #expect(output.contains(#""sources": {"cities": 505, "clusters": 505}"#), "\(output)")
            let result = try DaemonProcess.run(
                "clusterctl", ["serve", "--no-open", base + "/nothing"], environment: ["TMPDIR": folder])
            #expect(result.status == 1 && result.errors.contains("cannot be fetched: "), "\(result.errors)")
        }
    }

    @Test("spreadsheets are tables", .enabled(if: has("ogr2ogr"), "needs gdal-bin"), arguments: ["xlsx", "ods"])
    func spreadsheets(ending: String) throws {
        try withFolder { folder in
            let (table, sheet) = (folder + "/shops.csv", folder + "/shops." + ending)
            try "name,lon,lat\nA,1.5,2.5\nB,3.5,4.5\n".write(toFile: table, atomically: true, encoding: .utf8)
            let format = ending.uppercased()
            let made = try DaemonProcess.run("/usr/bin/env", ["ogr2ogr", "-f", format, sheet, table])
            #expect(made.status == 0, "\(made.errors)")
            let output = try serve([sheet], signal: SIGINT, in: folder)
            #expect(output.contains(#""sources": {"shops": 2}"#), "\(output)")
        }
    }

    @Test("Parquet without a reader of it is an error that says what to install") func parquetWithoutReader() throws {
        try withFolder { folder in
            try "PAR1".write(toFile: folder + "/a.parquet", atomically: true, encoding: .utf8)
            let result = try DaemonProcess.run(
                "clusterctl", ["serve", "--no-open", folder + "/a.parquet"],
                environment: ["TMPDIR": folder, "PATH": folder, "CLUSTERD_PYTHON": "/bin/false"])
            #expect(result.status == 1 && result.errors.contains("pip install 'clusterd[arrow]'"), "\(result.errors)")
        }
    }

    @Test("a basemap is the page's, with its attribution, and a wrong one is refused") func basemap() throws {
        let url = "https://tile.example.org/{z}/{x}/{y}.png?a=1&b=\"2\""
        try withFolder { folder in
            let output = try serve(
                ["--basemap", url, "--attribution", "© Example", Self.cities], signal: SIGINT, in: folder)
            #expect(
                output.contains(#""url": "https://tile.example.org/{z}/{x}/{y}.png?a=1&b=\"2\"""#),
                "\(output)")
            #expect(output.contains(#""attribution": "\u00a9 Example""#), "\(output)")
        }
        for (arguments, reason) in [
            (["--basemap", "tiles/{z}/{x}/{y}.png"], "--basemap must be a web address"),
            (["--basemap", "https://a.example.org/{z}/{x}.png"], "with {z}, {x} and {y}"),
            (["--attribution", "© Example"], "--attribution is for --basemap"),
        ] {
            let result = try DaemonProcess.run("clusterctl", ["serve", "--no-open"] + arguments + [Self.cities])
            #expect(result.status == 2 && result.errors.contains(reason), "\(result.errors)")
        }
    }

    @Test("a file that cannot be shown is named, and nothing is left behind") func errors() throws {
        try withFolder { folder in
            let (text, empty) = (folder + "/notes.geojson", folder + "/empty.geojson")
            let (blank, none) = (folder + "/blank.csv", folder + "/none.json")
            try "\n".write(toFile: blank, atomically: true, encoding: .utf8)
            try #"{"type":"FeatureCollection","features":[]}"#.write(toFile: none, atomically: true, encoding: .utf8)
            let commas = folder + "/commas.csv"
            try "lon;lat\n1 E;2 N\n".write(toFile: commas, atomically: true, encoding: .utf8)
            try "hello".write(toFile: text, atomically: true, encoding: .utf8)
            try #"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":null}]}"#
                .write(toFile: empty, atomically: true, encoding: .utf8)
            for (file, reason, status) in [
                ("/nonexistent.geojson", "No such file", 1), (folder, "Is a directory", 1),
                (text, "notes.geojson: ", 5), (blank, "blank.csv: it has no features", 1),
                (none, "none.json: it has no features", 1), (empty, "none of its features can be shown. Feature 0", 1),
                (commas, "none of its features can be shown. Feature 0 (line 2) has a longitude", 1),
            ] {
                let result = try DaemonProcess.run(
                    "clusterctl", ["serve", "--no-open", file], environment: ["TMPDIR": folder])
                #expect(result.status == Int32(status) && result.errors.contains(reason), "\(result.errors)")
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(left.sorted() == ["blank.csv", "commas.csv", "empty.geojson", "none.json", "notes.geojson"])
        }
    }

    @Test("a port that is taken is an error that says so") func port() throws {
        let daemon = try DaemonProcess(http: "")
        let result = try DaemonProcess.run(
            "clusterctl", ["serve", "--no-open", "--port", String(daemon.httpPort), Self.cities])
        #expect(result.status == 1 && result.errors.contains("in use"), "\(result.errors)")
    }
}
