// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON
import TypedContract

/// `clusterctl call`: any method with any params.
enum CallCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "call", summary: "Call a method of the protocol",
        details: [
            "METHOD is a name such as GetClusters or SourceService/GetSource. Params are a JSON object, @FILE to read one, "
                + "- to read one from standard input, or words NAME=VALUE, whose values are JSON or else text; several add "
                + "up. JSON is sent as it is written.",
            "The answer is printed as the daemon sends it. A method that streams prints an item a line, and then the "
                + "stream's end. Each line of standard input is an item of ImportFeatures.",
            "With --grpc the call is made by gRPC, and all JSON is protobuf's mapping of proto/clusterd/v1/clusterd.proto: "
                + "PARAMS is the request or, of a stream from the client, what its first message opens it with.",
        ],
        operands: [
            Operand(
                "METHOD", kind: .dynamic("methods"), help: "the method's name, with or without its service"),
            Operand(
                "PARAMS", kind: .dynamic("params"), count: .any,
                help: "a JSON object, @FILE, -, or NAME=VALUE"),
        ],
        options: [.flag("grpc", help: "call by gRPC, with messages in protobuf's JSON")],
        examples: [
            Example("clusterctl call ListSources", "needs no params"),
            Example("clusterctl call GetClusters source=cities zoom=3 bbox=[-10,35,30,60]", "names them one by one"),
            Example("clusterctl call GetSource '{\"source\":\"cities\"}'", "gives them as JSON"),
            Example("clusterctl call ImportFeatures source=cities < items.ndjson", "sends items"),
            Example("clusterctl call --grpc GetClusterExpansionZoom source=cities clusterId=164", "calls by gRPC"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let method = try method(try invocation.operand(0), invocation)
        var text = ParamsText()
        for word in invocation.arguments.operands.dropFirst() { try add(word, to: &text, invocation) }
        if invocation.arguments.has("grpc") { return try callByGRPC(method, text, invocation) }
        let client = try await invocation.connect()
        defer { client.close() }
        let (name, params, options) = (method.fullName, text.params, invocation.callOptions)
        switch method.kind {
        case .unary:
            let answer = try await client.call(name, params, options: options)
            if invocation.form == .table { return write(answer) }
            try invocation.show(answer) { _ in write(answer) }
        case .clientStream:
            let call = try client.openClientStream(name, params, options: options)
            while let line = readLine() {
                if line.allSatisfy(\.isWhitespace) { continue }
                try check(line, invocation)
                try await call.send(Array(line.utf8))
            }
            write(try await call.finish())
        case .serverStream:
            let call = try client.openServerStream(name, params, options: options)
            for try await item in call { write(item) }
            write(try await call.end())
        case .both:
            for try await item in try client.openBothWays(name, params, options: options) { write(item) }
        }
    }

    private static func callByGRPC(
        _ method: MethodDeclaration, _ params: ParamsText, _ invocation: Invocation
    ) throws {
        guard let typed = TypedMethod.named(method.fullName) else {
            throw invocation.arguments.usageError("'\(method.name)' is not served by gRPC")
        }
        var first: String? = typed.clientStreams ? #"{"open":\#(params.text)}"# : params.text
        let call = try GRPCCall(typed) {
            if let message = first {
                first = nil
                return Array(message.utf8)
            }
            guard typed.clientStreams, !typed.serverStreams else { return nil }
            while let line = readLine() {
                if !line.allSatisfy(\.isWhitespace) { return Array(line.utf8) }
            }
            return nil
        } show: { message in
            Terminal.write(message + [UInt8(ascii: "\n")])
        }
        try call.run(
            on: SocketPath.candidates(option: invocation.arguments.string("socket")),
            timeout: invocation.arguments.number("timeout"))
    }

    private static func write(_ answer: Answer) { Terminal.write(answer.line) }

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

    private static func add(_ word: String, to params: inout ParamsText, _ invocation: Invocation) throws {
        if word == "-" || word.hasPrefix("@") {
            return try add(
                object: try SmallFile.read(word == "-" ? word : String(word.dropFirst())), &params, invocation)
        }
        if word.hasPrefix("{") { return try add(object: word, &params, invocation) }
        guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
            throw invocation.arguments.usageError(
                "invalid argument '\(word)': a JSON object, @FILE, - or NAME=VALUE is expected")
        }
        let text = String(word[word.index(after: equals)...])
        let isJSON = (try? JSONReader.parse(text)) != nil
        params[String(word[..<equals])] = isJSON ? text : JSONValue.string(text).text
    }

    private static func add(object text: String, _ params: inout ParamsText, _ invocation: Invocation) throws {
        do throws(JSONError) { try params.add(object: text) } catch {
            throw invocation.arguments.usageError("invalid argument '\(text)': \(error.message)")
        }
    }

    private static func check(_ line: String, _ invocation: Invocation) throws {
        var item = ParamsText()
        try add(object: line, &item, invocation)
    }
}
