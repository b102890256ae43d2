// SPDX-License-Identifier: MIT
import Daemon
import CommandLineOptions
import Glibc

func fail(_ message: String, status: Int32) -> Never {
    Launch.writeToStandardError("clusterd: \(message)\n")
    exit(status)
}

func configure(_ arguments: ParsedArguments) throws(Configuration.Problem) -> Configuration {
    var configuration = Configuration()
    if let path = arguments.string("config") ?? Configuration.defaultFile {
        try configuration.read(file: path)
    }
    if let socket = arguments.string("socket") { configuration.socket = socket }
    if let directory = arguments.string("state-dir") { configuration.stateDirectory = directory }
    configuration.importDirectories += arguments.strings("import-dir")
    configuration.exportDirectories += arguments.strings("export-dir")
    for address in arguments.strings("http") { try configuration.listenForHTTP(on: address) }
    if let level = arguments.string("log-level").flatMap({ Log.Level(name: $0) }) {
        configuration.log.level = level
    }
    try configuration.check()
    return configuration
}

let arguments = Launch.parseOrExit(CommandTable.command, version: Daemon.version)
if let name = arguments.string("print"), let text = PrintedText(rawValue: name) {
    print(text.content, terminator: "")
    exit(0)
}
let configuration: Configuration
do throws(Configuration.Problem) { configuration = try configure(arguments) } catch {
    fail(error.lines.joined(separator: "\nclusterd: "), status: 2)
}
if arguments.has("check-config") {
    for warning in configuration.warnings { Launch.writeToStandardError("clusterd: warning: \(warning)\n") }
    print("clusterd: the configuration is valid")
    exit(0)
}
do throws(Daemon.Problem) {
    let daemon = try Daemon(configuration, rereading: { () throws(Configuration.Problem) in try configure(arguments) })
    try daemon.run()
    // The pool's threads may still work for calls that the shutdown has ended. `exit` would destroy the global objects
    // of C++ libraries while they use them. Joining them could take as long as a disk hangs.
    fflush(nil)
    withExtendedLifetime(daemon) { _exit(0) }
} catch {
    fail(error.description, status: 1)
}
