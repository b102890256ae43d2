// SPDX-License-Identifier: MIT
import ClusterServer
import CommandLineOptions
import Glibc

let command = Command(
    "clusterd",
    summary: "Hold GeoJSON points in memory, cluster them, and answer over a Unix socket",
    details: [
        "The socket is --socket, else $CLUSTERD_SOCKET, else $XDG_RUNTIME_DIR/clusterd.sock, else /run/clusterd/clusterd.sock. Started by a systemd socket unit it takes the socket handed over.",
        "SIGTERM and SIGINT end it with status 0 after the calls in flight. Exit status 2: wrong flags or configuration; 1: anything else that keeps it from serving.",
    ],
    options: [
        Option("socket", short: "s", value: "PATH", kind: .file, help: "listen on PATH"),
        Option("state-dir", value: "DIR", kind: .directory, help: "keep sources in DIR"),
        Option(
            "import-dir", value: "DIR", kind: .directory, isRepeatable: true,
            help: "let LoadFile read files below DIR"),
        Option("config", short: "c", value: "FILE", kind: .file, help: "read the configuration from FILE"),
        Option.flag("check-config", help: "check flags and configuration, and exit"),
        Option(
            "log-level", value: "LEVEL", kind: .oneOf(Log.Level.allCases.map(\.name)),
            help: "say this and what is graver on standard error"),
    ])

func fail(_ message: String, status: Int32) -> Never {
    Launch.writeToStandardError("clusterd: \(message)\n")
    exit(status)
}

func configure(_ arguments: ParsedArguments) -> Configuration {
    var configuration = Configuration()
    if let path = arguments.string("config") {
        do throws(Configuration.Problem) { try configuration.read(file: path) } catch {
            fail(error.description, status: 2)
        }
    }
    if let socket = arguments.string("socket") { configuration.socket = socket }
    if let directory = arguments.string("state-dir") { configuration.stateDirectory = directory }
    configuration.importDirectories += arguments.strings("import-dir")
    if let level = arguments.string("log-level").flatMap({ Log.Level(name: $0) }) {
        configuration.logLevel = level
    }
    return configuration
}

let arguments = Launch.parseOrExit(command, version: ServerService.version)
let configuration = configure(arguments)
if arguments.has("check-config") {
    print("clusterd: the configuration is good")
    exit(0)
}
do throws(Daemon.Problem) {
    try Daemon(configuration).run()
} catch {
    fail(error.description, status: 1)
}
