// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON

/// `clusterctl eval`: evaluates an expression.
enum EvalCommand: Subcommand {
    static let table = Command(
        "eval", summary: "Evaluate an expression, and show where it is wrong",
        operands: [Operand("EXPRESSION", help: "the expression as JSON; - to read it from standard input")],
        options: [
            Option(
                "feature", short: "f", value: "FILE", kind: .file,
                help: "the feature to evaluate it on: a file, - for standard input, or the JSON itself"),
            .param(.expressionZoom, short: "z"), .param(.accumulated), .param(.expectedType),
        ],
        examples: [
            Example("clusterctl eval '[\"+\", 1, 2]'", "prints 3"),
            Example(
                "clusterctl eval '[\"get\",\"name\"]' -f '{\"type\":\"Feature\",\"properties\":{\"name\":\"Oslo\"},\"geometry\":null}'",
                "prints \"Oslo\""),
        ])

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let operand = try invocation.operand(0)
        guard operand != "-" || arguments.string("feature") != "-" else {
            throw arguments.usageError("the expression and the feature cannot both be standard input")
        }
        let text = operand == "-" ? try SmallFile.read("-") : operand
        var params = try invocation.params(of: [.expressionZoom, .accumulated, .expectedType])
        do throws(JSONError) { params["expression"] = try JSONReader.parse(text) } catch {
            throw Failure(
                message: "", picture: Underline.message(error.message, in: text, at: error.offset..<error.offset + 1))
        }
        if let feature = arguments.string("feature") {
            params["feature"] = try readFeature(feature, invocation)
        }
        do {
            let answer = try await invocation.call("SourceService/EvaluateExpression", CallParams(params))
            try invocation.show(answer) { Terminal.write((($0["value"] ?? .null).text) + "\n") }
        } catch let error as RPCError where error.details?["errors"]?.asArray?.isEmpty == false {
            throw Failure(message: "", picture: explain(error.details?["errors"]?.asArray ?? [], in: text))
        }
    }

    /// A path never begins like an object, so one operand can be either.
    private static func readFeature(_ text: String, _ invocation: Invocation) throws -> JSONValue {
        let trimmed = text.drop(while: \.isWhitespace)
        if trimmed.hasPrefix("{") { return try invocation.json(text, of: "feature") }
        let path = text.hasPrefix("@") ? String(text.dropFirst()) : text
        let json = try SmallFile.read(path)
        do throws(JSONError) { return try JSONReader.parse(json) } catch {
            throw Failure(message: "\(path): \(error.message)")
        }
    }

    /// Each error under the part of the expression that it refers to.
    private static func explain(_ errors: [JSONValue], in text: String) -> String {
        errors.map { error in
            let message = error["message"]?.asString ?? error.text
            let position = JSONLocation.range(of: error["key"]?.asString ?? "", in: text)
            return Underline.message(message, in: text, at: position)
        }.joined(separator: "\n")
    }
}
