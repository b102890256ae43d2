// SPDX-License-Identifier: MIT
import Bench
import ClusterClient
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl bench`: puts load on the daemon, or on Redis for comparison, and measures.
enum BenchCommand: Subcommand {
    static let table = Command(
        "bench", summary: "Put load on the daemon and measure rate and latency",
        details: [
            "The requests are viewports, tiles and clusters of what the source holds, the same in each run. With "
                + "--redis the same load generator asks a Redis server for one stored value instead."
        ], operands: [Operand("SOURCE", kind: .dynamic("sources"), count: .optional, help: "the source to ask for")],
        options: [
            Option(
                "connections", short: "c", value: "N", kind: .integer(1...10000), default: "16", help: "connections"),
            Option(
                "depth", short: "d", value: "N", kind: .integer(1...1000), default: "1",
                help: "requests in flight on each"),
            Option(
                "duration", short: "t", value: "SECONDS", kind: .number(0.1...86400), default: "5", help: "how long"),
            Option(
                "mix", short: "m", value: "KIND=N,...", default: "clusters",
                help: "what to ask for, in which proportions: clusters, tile, children, leaves, zoom, hull"),
            Option("zooms", short: "z", value: "LOW-HIGH", default: "3-12", help: "zooms of viewports and tiles"),
            Option(
                "limit", short: "n", value: "N", kind: .integer(1...1_000_000), default: "60",
                help: "the most features of a viewport"),
            Option("redis", value: "PATH", kind: .file, help: "ask the Redis server at this Unix socket"),
            Option("key", short: "k", value: "KEY", default: "clusterctl-bench", help: "the key to get from Redis"),
            Option(
                "value-size", value: "BYTES", kind: .integer(1...(64 << 20)),
                help: "store a value of this size under the key first"),
            Option(
                "watch", short: "w", value: "N", kind: .integer(1...100_000),
                help: "watch N viewports instead of asking, and measure when changes arrive"),
            Option(
                "updates", short: "u", value: "HZ", kind: .number(0...100_000), default: "100",
                help: "with --watch: change the source this often per second"),
        ],
        examples: [
            Example("clusterctl bench cities -c 16 -t 10", "asks for viewports over 16 connections"),
            Example(
                "clusterctl bench cities -m clusters=8,tile=1,leaves=1 -d 8",
                "a mix, 8 requests in flight on each"),
            Example(
                "clusterctl bench cities -w 1000 -u 100", "1000 viewports, 100 updates a second"),
            Example(
                "clusterctl bench --redis /run/redis/redis.sock --value-size 12000", "the same load on Redis"),
        ])

    private static let warmUp = 0.5
    private static let requestCount = 4096

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        if arguments.has("watch") { return try await WatchBench.run(invocation) }
        let report: BenchReport
        if let path = arguments.string("redis") {
            report = try redis(path, invocation)
        } else {
            guard let source = arguments.operand(0) else {
                throw arguments.usageError("missing operand SOURCE")
            }
            report = try await clusterd(source, invocation)
        }
        invocation.show(.object(report.json)) { Terminal.writeStyled(report.text(style: Terminal.outputStyle)) }
        if report.result.answers == 0 || report.result.lostConnections > 0 {
            let lost = report.result.lostConnections
            throw Failure(
                message: lost > 0
                    ? "the server has closed \(Quantity.count(lost, "connection"))" : "there was no answer")
        }
    }

    private static func clusterd(_ source: String, _ invocation: Invocation) async throws -> BenchReport {
        let arguments = invocation.arguments
        let text = try arguments.requiredString("mix")
        guard let mix = RequestMix(text: text) else {
            throw arguments.usageError("invalid argument '\(text)' for '--mix': KIND=N,... is expected")
        }
        let viewport = try viewport(invocation)
        let client = try await invocation.connect()
        let requests = try await mix.requests(for: source, viewport: viewport, count: requestCount, client)
        let path = client.socketPath
        client.close()
        let result = try measure(path, invocation) { index in ClusterdLoad(requests: requests, first: index &* 257) }
        return BenchReport(title: "clusterd at \(path), \(source), \(text)", result: result)
    }

    private static func redis(_ path: String, _ invocation: Invocation) throws -> BenchReport {
        let key = try invocation.arguments.requiredString("key")
        if let size = invocation.arguments.integer("value-size") {
            try RedisStore.set(key, bytes: Int(size), path: path)
        }
        let result = try measure(path, invocation) { _ in RedisLoad(key: key) }
        return BenchReport(title: "redis at \(path), GET \(key)", result: result)
    }

    private static func measure<Wire: LoadProtocol>(
        _ path: String, _ invocation: Invocation, _ wire: (Int) -> Wire
    ) throws -> LoadResult {
        let arguments = invocation.arguments
        return try LoadGenerator.run(
            path: path, connections: Int(try arguments.requiredInteger("connections")),
            depth: Int(try arguments.requiredInteger("depth")), warmUp: warmUp,
            seconds: try arguments.requiredNumber("duration"), wire: wire)
    }

    /// The viewports that the options describe.
    static func viewport(_ invocation: Invocation) throws -> RequestMix.Viewport {
        RequestMix.Viewport(
            limit: Int(try invocation.arguments.requiredInteger("limit")),
            zooms: try range(try invocation.arguments.requiredString("zooms"), invocation))
    }

    private static func range(_ text: String, _ invocation: Invocation) throws -> ClosedRange<Int> {
        let ends = text.split(separator: "-").map { Int($0) }
        if let low = ends.first ?? nil, let high = ends.last ?? nil, ends.count <= 2, low >= 0, high <= 24,
            low <= high
        {
            return low...high
        }
        throw invocation.arguments.usageError(
            "invalid argument '\(text)' for '--zooms': two zooms from 0 to 24 are expected, such as 3-12")
    }
}

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
        let (params, positions) = try await RequestMix.viewports(of: source, viewport, count: watchers, client)
        let result = try await WatchLoad(
            source, path: client.socketPath, viewports: params, watchers: watchers,
            connections: Int(try arguments.requiredInteger("connections")),
            updates: try arguments.requiredNumber("updates"),
            seconds: try arguments.requiredNumber("duration"), UpdateSequence(among: positions)
        ).result
        let added = (0..<UpdateSequence.features).map { JSONValue.string(UpdateSequence.identifier($0)) }
        _ = try await client.call("SourceService/UpdateFeatures", ["source": .string(source), "remove": .array(added)])
        invocation.show(.object(json(result))) {
            Terminal.writeStyled(text(result, "\(watchers) viewports of \(source) at \(client.socketPath)"))
        }
        if result.errors > 0 { throw Failure(message: "\(result.errors) calls have failed") }
    }

    private static func json(_ result: WatchLoad.Result) -> JSONObject {
        [
            "seconds": .number(result.seconds), "changes": .number(Double(result.items)),
            "bytes": .number(Double(result.bytes)), "errors": .number(Double(result.errors)),
            "updates": .number(Double(result.update.count)),
            "arrivalMs": .object(BenchReport.json(result.lag)),
            "updateMs": .object(BenchReport.json(result.update)),
            "processorSeconds": .number(result.processor),
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
