// SPDX-License-Identifier: MIT
import Rendering
import ClusterClient
import CommandLineOptions
import JSON

/// A subcommand's parsed command line, with access to the daemon and the user.
struct Invocation {
    let arguments: ParsedArguments

    /// Whether the output is the daemon's answer rather than a table.
    var wantsJSON: Bool { form != .table && form != .csv }

    var form: OutputForm { OutputForm(arguments) }

    var callOptions: CallOptions {
        CallOptions(timeout: arguments.number("timeout").map { .seconds($0) })
    }

    /// A required operand.
    func operand(_ index: Int) throws -> String {
        guard let operand = arguments.operand(index) else { throw arguments.usageError("missing operand") }
        return operand
    }

    func clusterID(_ index: Int) throws -> Int64 {
        guard let id = Int64(try operand(index)) else { throw arguments.usageError("invalid cluster id") }
        return id
    }

    // MARK: The daemon

    func connect() async throws -> Client {
        try await Client.connect(socketPath: arguments.string("socket"))
    }

    /// Calls a method on a new connection.
    func call(_ method: String, _ params: CallParams = [:]) async throws -> Answer {
        let client = try await connect()
        defer { client.close() }
        return try await client.call(method, params, options: callOptions)
    }

    /// Reads an option's value as JSON.
    func json(_ text: String, of option: String) throws -> JSONValue {
        do throws(JSONError) { return try JSONReader.parse(text) } catch {
            throw arguments.usageError("invalid argument '\(text)' for '--\(option)': \(error.message)")
        }
    }

    // MARK: The user

    /// Prints the answer as JSON if requested; otherwise passes it to `show`.
    func show(_ answer: Answer, _ show: (JSONValue) throws -> Void) throws {
        switch form {
        case .table: try show(try answer.value())
        case .json: Terminal.write(answer.bytes + [UInt8(ascii: "\n")])
        case .geojson:
            guard let value = OutputForm.geojson(in: try answer.value()) else {
                throw arguments.usageError("the answer has no features: '--output geojson' cannot be used")
            }
            Terminal.write(value.text + "\n")
        case .csv:
            let value = try answer.value()
            guard let features = OutputForm.geojson(in: value).map(OutputForm.features) else {
                return Terminal.write(CSVRecords(answer: value).text)
            }
            var (names, known): ([String], Set<String>) = ([], [])
            CSVText.names(of: features, into: &names, &known)
            let text = CSVText(names: names)
            Terminal.write(text.header + features.map(text.row).joined())
        }
    }

    /// Prints a value that this program has made as JSON if requested; otherwise calls `show`.
    func show(_ value: @autoclosure () -> JSONValue, _ show: () -> Void) {
        if wantsJSON { print(value().text) } else { show() }
    }

    func print(_ table: Table) {
        if form == .csv { return Terminal.write(table.csv) }
        Terminal.writeStyled(table.text(width: Terminal.outputWidth, style: Terminal.outputStyle))
    }

    func print(_ line: String) { Terminal.write(PrintableText.of(line) + "\n") }

    /// Prints a warning to standard error.
    func warn(_ line: String) {
        Terminal.writeError(Terminal.errorStyle.red("warning:") + " \(PrintableText.of(line))\n")
    }

    /// Prints a remark to standard error if that is a terminal.
    func remark(_ line: String) {
        Terminal.writeError(Terminal.errorStyle.dim(PrintableText.of(line)) + "\n")
    }
}
