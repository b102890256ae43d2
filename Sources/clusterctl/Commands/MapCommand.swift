// SPDX-License-Identifier: MIT
import Rendering
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON

/// `clusterctl map`: a map in the terminal.
enum MapCommand: Subcommand {
    static let table = Command(
        "map", summary: "Look at a source on a map in the terminal",
        details: [
            "The arrow keys or h, j, k and l pan, + and - zoom, tab chooses a cluster, enter opens it: zooms to "
                + "where it splits. 0 shows the whole source, q quits. The map follows the source's changes."
        ], operands: [.source], options: [.param(.filter), .param(.window), .param(.pin)],
        examples: [Example("clusterctl map cities", "shows the cities")])

    static func run(_ invocation: Invocation) async throws {
        guard isatty(STDIN_FILENO) == 1, Terminal.outputIsTerminal else {
            throw Failure(message: "map needs a terminal; 'render' draws into a file")
        }
        let source = try invocation.operand(0)
        let extra = try invocation.params(of: [.filter, .window, .pin])
        let client = try await invocation.connect()
        defer { client.close() }
        let description = try await client.source(source)
        let projection = MapProjection(options: description.options)
        let home = BoundingBox(description.json["bbox"]) ?? projection.plane ?? .world
        try TerminalScreen.enter()
        defer { TerminalScreen.leave() }
        var session = MapSession(
            client: client, source: source, extra: extra, home: home, projection: projection, palette: Terminal.palette)
        try await session.run()
    }
}
