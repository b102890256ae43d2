// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON

/// `clusterctl call`: any method with any params.
enum CallCommand: Subcommand {
    static let table = Command(
        "call", summary: "Call a method of the protocol",
        details: [
            "METHOD is a name such as GetClusters or SourceService/GetSource. Params are a JSON object, @FILE to read one, "
                + "or words NAME=VALUE, whose values are JSON or else text; several add up.",
            "The answer is printed as the daemon sends it. A method that streams prints an item a line, and then the "
                + "stream's end. Of a method that takes items, each line of standard input is one.",
        ],
        operands: [
            Operand(
                "METHOD", kind: .dynamic("methods"), help: "the method's name, with or without its service"),
            Operand(
                "PARAMS", kind: .dynamic("params"), count: .any, help: "a JSON object, @FILE, or NAME=VALUE"),
        ],
        examples: [
            Example("clusterctl call ListSources", "needs no params"),
            Example(
                "clusterctl call GetClusters source=cities zoom=3 bbox=[-10,35,30,60]",
                "names them one by one"),
            Example("clusterctl call GetSource '{\"source\":\"cities\"}'", "gives them as JSON"),
            Example("clusterctl call ImportFeatures source=cities < items.ndjson", "sends items"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let method = try method(try invocation.operand(0), invocation)
        let params = try invocation.arguments.operands.dropFirst().reduce(into: JSONObject()) {
            params, word in
            for (name, value) in try members(word, invocation).members { params[name] = value }
        }
        let client = try await invocation.connect()
        defer { client.close() }
        switch method.kind {
        case .unary:
            let answer = try await client.call(method.fullName, params, options: invocation.callOptions)
            if invocation.form == .table { return Terminal.write(answer.bytes + [UInt8(ascii: "\n")]) }
            try invocation.show(answer) { _ in Terminal.write(answer.bytes + [UInt8(ascii: "\n")]) }
        case .clientStream:
            let call = try client.openClientStream(
                method.fullName, params, options: invocation.callOptions)
            while let line = readLine() {
                if line.allSatisfy(\.isWhitespace) { continue }
                try await call.send(try item(line, invocation))
            }
            Terminal.write(try await call.finish().bytes + [UInt8(ascii: "\n")])
        case .serverStream:
            for try await item in try client.openServerStream(
                method.fullName, params, options: invocation.callOptions)
            {
                Terminal.write(item.bytes + [UInt8(ascii: "\n")])
            }
        case .both:
            for try await item in try client.openBothWays(
                method.fullName, params, options: invocation.callOptions)
            {
                Terminal.write(item.bytes + [UInt8(ascii: "\n")])
            }
        }
    }

    private static func method(_ name: String, _ invocation: Invocation) throws -> MethodDeclaration {
        let found = MethodDeclaration.all.first { method in
            [method.name, method.shortName, method.fullName].contains { $0.lowercased() == name.lowercased() }
        }
        guard let found else {
            throw invocation.arguments.usageError(
                "unknown method '\(name)'; 'clusterctl complete methods' lists them")
        }
        return found
    }

    private static func members(_ word: String, _ invocation: Invocation) throws -> JSONObject {
        let isText = word.hasPrefix("{") || word.hasPrefix("@")
        guard isText else {
            guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
                throw invocation.arguments.usageError(
                    "invalid argument '\(word)': a JSON object, @FILE or NAME=VALUE is expected")
            }
            let text = String(word[word.index(after: equals)...])
            return [String(word[..<equals]): (try? JSONReader.parse(text)) ?? .string(text)]
        }
        let text = word.hasPrefix("@") ? try SmallFile.read(String(word.dropFirst())) : word
        return try object(text, invocation)
    }

    private static func item(_ line: String, _ invocation: Invocation) throws -> JSONObject {
        try object(line, invocation)
    }

    private static func object(_ text: String, _ invocation: Invocation) throws -> JSONObject {
        do throws(JSONError) {
            if let object = try JSONReader.parse(text).asObject { return object }
        } catch {
            throw invocation.arguments.usageError("invalid argument '\(text)': \(error.message)")
        }
        throw invocation.arguments.usageError("invalid argument '\(text)': a JSON object is expected")
    }
}
