// SPDX-License-Identifier: MIT
import Bench
import ClusterClient
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl bench --watch`: many watched viewports of a source that changes.
enum WatchBench {
    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        guard let source = arguments.operand(0) else {
            throw arguments.usageError("missing operand SOURCE")
        }
        let viewport = try BenchCommand.viewport(invocation)
        let watchers = Int(try arguments.requiredInteger("watch"))
        let client = try await invocation.connect()
        defer { client.close() }
        let (params, positions) = try await RequestMix.viewports(
            of: source, viewport, count: watchers, client)
        let result = try await WatchLoad(
            source, path: client.socketPath, viewports: params, watchers: watchers,
            connections: Int(try arguments.requiredInteger("connections")),
            updates: try arguments.requiredNumber("updates"),
            seconds: try arguments.requiredNumber("duration"), UpdateSequence(among: positions)
        ).result
        let added = (0..<UpdateSequence.features).map { JSONValue.string(UpdateSequence.identifier($0)) }
        _ = try await client.call(
            "SourceService/UpdateFeatures", ["source": .string(source), "remove": .array(added)])
        if invocation.wantsJSON {
            invocation.print(JSONValue.object(json(result)).text)
        } else {
            Terminal.writeStyled(text(result, "\(watchers) viewports of \(source) at \(client.socketPath)"))
        }
        if result.errors > 0 { throw Failure(message: "\(result.errors) calls have failed") }
    }

    private static func json(_ result: WatchLoad.Result) -> JSONObject {
        [
            "seconds": .number(result.seconds), "changes": .number(Double(result.items)),
            "bytes": .number(Double(result.bytes)), "errors": .number(Double(result.errors)),
            "updates": .number(Double(result.update.count)), "arrivalMs": .object(BenchReport.json(result.lag)),
            "updateMs": .object(BenchReport.json(result.update)), "processorSeconds": .number(result.processor),
            "memoryBytes": .number(Double(result.memory)),
        ]
    }

    private static func text(_ result: WatchLoad.Result, _ title: String) -> String {
        let seconds = max(result.seconds, 1e-9)
        let each = Double(result.bytes) / Double(max(1, result.items))
        return DescriptionList.text(
            [
                ("target", title),
                (
                    "changes",
                    "\(Quantity.grouped(Int(Double(result.items) / seconds)))/s, "
                        + "\(Quantity.bytes(Double(result.bytes) / seconds))/s, \(Quantity.bytes(each)) each"
                ),
                ("arrival", BenchReport.quantiles(result.lag)),
                ("updates", "\(Quantity.fixed(Double(result.update.count) / seconds, decimals: 1))/s"),
                ("update", BenchReport.quantiles(result.update)),
                (
                    "daemon",
                    "\(Quantity.fixed(100 * result.processor / seconds, decimals: 0))% of a core, "
                        + Quantity.bytes(Double(result.memory))
                ),
                ("errors", Quantity.grouped(result.errors)),
            ], style: Terminal.outputStyle)
    }
}
