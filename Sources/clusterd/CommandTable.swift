// SPDX-License-Identifier: MIT
import Daemon
import CommandLineOptions

/// The daemon's command line, from which the parser, the help, the manual and the completion are made.
enum CommandTable {
    static let command = Command(
        "clusterd", summary: "Hold GeoJSON points in memory, cluster them, and answer over a Unix socket",
        details: [
            "The socket is --socket, else $CLUSTERD_SOCKET, else $XDG_RUNTIME_DIR/clusterd.sock, else /run/clusterd/clusterd.sock. If a systemd socket unit starts it, it takes that unit's socket.",
            "Without --config it reads $CONFIGURATION_DIRECTORY/clusterd.json, else /etc/clusterd/clusterd.json, if it exists; clusterd.json(5) describes it. SIGHUP reads it again: an invalid file is rejected with line and column, and changes nothing.",
            "SIGTERM and SIGINT end it with status 0 after the calls in flight. Exit status 2: invalid flags or configuration; 1: anything else that prevents it from serving.",
        ],
        options: [
            Option("socket", short: "s", value: "PATH", kind: .file, help: "listen on PATH"),
            Option(
                "http", value: "ADDRESS", isRepeatable: true,
                help: "serve HTTP and the map on HOST:PORT, [V6]:PORT, PORT or unix:PATH"),
            Option("state-dir", value: "DIR", kind: .directory, help: "keep sources in DIR"),
            Option(
                "import-dir", value: "DIR", kind: .directory, isRepeatable: true,
                help: "allow LoadFile to read files below DIR"),
            Option(
                "export-dir", value: "DIR", kind: .directory, isRepeatable: true,
                help: "allow PublishTiles to write archives below DIR"),
            Option("config", short: "c", value: "FILE", kind: .file, help: "read the configuration from FILE"),
            Option.flag("check-config", help: "check flags and configuration, and exit"),
            Option(
                "log-level", value: "LEVEL", kind: .oneOf(Log.Level.allCases.map(\.name)),
                help: "log messages of this level and of more severe ones"),
            Option(
                "print", value: "TEXT", kind: .oneOf(PrintedText.allCases.map(\.rawValue)),
                help: "print a text for packages and documents, and exit"),
        ],
        examples: [
            Example(
                "clusterd --socket /tmp/clusterd.sock --import-dir /srv/geojson",
                "serve at a socket of your own"),
            Example(
                "clusterd --config ./clusterd.json --check-config", "check a configuration"),
        ])
}
