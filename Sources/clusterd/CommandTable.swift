// SPDX-License-Identifier: MIT
import Daemon
import CommandLineOptions

/// The daemon's command line: what it is parsed by, and its help, manual and completion made of.
enum CommandTable {
    static let command = Command(
        "clusterd",
        summary: "Hold GeoJSON points in memory, cluster them, and answer over a Unix socket",
        details: [
            "The socket is --socket, else $CLUSTERD_SOCKET, else $XDG_RUNTIME_DIR/clusterd.sock, else /run/clusterd/clusterd.sock. Started by a systemd socket unit it takes the socket handed over.",
            "Without --config it reads $CONFIGURATION_DIRECTORY/clusterd.json, else /etc/clusterd/clusterd.json, where there is one; clusterd.json(5) tells what may be in it. SIGHUP reads it again: what is bad is refused with line and column, and all stays as it was.",
            "SIGTERM and SIGINT end it with status 0 after the calls in flight. Exit status 2: wrong flags or configuration; 1: anything else that keeps it from serving.",
        ],
        options: [
            Option("socket", short: "s", value: "PATH", kind: .file, help: "listen on PATH"),
            Option(
                "http", value: "ADDRESS", isRepeatable: true,
                help: "serve HTTP and the map on HOST:PORT, [V6]:PORT, PORT or unix:PATH"),
            Option("state-dir", value: "DIR", kind: .directory, help: "keep sources in DIR"),
            Option(
                "import-dir", value: "DIR", kind: .directory, isRepeatable: true,
                help: "let LoadFile read files below DIR"),
            Option(
                "export-dir", value: "DIR", kind: .directory, isRepeatable: true,
                help: "let PublishTiles write archives below DIR"),
            Option(
                "config", short: "c", value: "FILE", kind: .file, help: "read the configuration from FILE"),
            Option.flag("check-config", help: "check flags and configuration, and exit"),
            Option(
                "log-level", value: "LEVEL", kind: .oneOf(Log.Level.allCases.map(\.name)),
                help: "say this and what is graver on standard error"),
            Option(
                "print", value: "TEXT", kind: .oneOf(PrintedText.allCases.map(\.rawValue)),
                help: "print a text made for packages and documents, and exit"),
        ],
        examples: [
            Example(
                "clusterd --socket /tmp/clusterd.sock --import-dir /srv/geojson",
                "serve at a socket of your own"),
            Example(
                "clusterd --config ./clusterd.json --check-config", "say what is wrong with a configuration"),
        ])
}
