// SPDX-License-Identifier: MIT
import Rendering
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON

/// A subcommand's command line, and the ways it reaches the daemon and the user.
struct Invocation {
    let arguments: ParsedArguments

    var wantsJSON: Bool { arguments.has("json") }

    var callOptions: CallOptions {
        CallOptions(timeout: arguments.number("timeout").map { .seconds($0) })
    }

    /// An operand that the table demands.
    func operand(_ place: Int) throws -> String {
        guard let operand = arguments.operand(place) else { throw arguments.usageError("missing operand") }
        return operand
    }

    func clusterID(_ place: Int) throws -> Int64 {
        guard let id = Int64(try operand(place)) else { throw arguments.usageError("invalid cluster id") }
        return id
    }

    // MARK: The daemon

    func connect() async throws -> Client {
        try await Client.connect(socketPath: arguments.string("socket"))
    }

    /// Calls a method on a connection of its own.
    func call(_ method: String, _ params: JSONObject = [:]) async throws -> Answer {
        let client = try await connect()
        defer { client.close() }
        return try await client.call(method, params, options: callOptions)
    }

    /// The params of a query: the source, and the members that --filter, --revision and the like add.
    func queryParams(_ members: JSONObject) throws -> JSONObject {
        var params: JSONObject = ["source": .string(try operand(0))]
        for (key, value) in members.members { params[key] = value }
        if let filter = arguments.string("filter") { params["filter"] = try json(filter, of: "filter") }
        if let revision = arguments.integer("revision") { params["revision"] = .number(Double(revision)) }
        return params
    }

    /// Reads an option's value as JSON.
    func json(_ text: String, of option: String) throws -> JSONValue {
        do throws(JSONError) { return try JSONReader.parse(text) } catch {
            throw arguments.usageError("invalid argument '\(text)' for '--\(option)': \(error.message)")
        }
    }

    // MARK: The user

    /// Prints the answer's JSON where --json asks for it; else hands it to `show`.
    func show(_ answer: Answer, _ show: (JSONValue) throws -> Void) throws {
        if wantsJSON {
            Terminal.write(answer.bytes + [UInt8(ascii: "\n")])
        } else {
            try show(try answer.value())
        }
    }

    func print(_ table: Table) {
        Terminal.write(table.text(width: Terminal.outputWidth, style: Terminal.outputStyle))
    }

    func print(_ line: String) { Terminal.write(PrintableText.of(line) + "\n") }

    /// A warning beside the output, on standard error.
    func warn(_ line: String) {
        Terminal.writeError(Terminal.errorStyle.red("warning:") + " \(PrintableText.of(line))\n")
    }

    /// A remark beside the output, on standard error where only people see it.
    func remark(_ line: String) {
        Terminal.writeError(Terminal.errorStyle.dim(PrintableText.of(line)) + "\n")
    }
}
