// SPDX-License-Identifier: MIT
import ClusterClient
import CommandLineOptions
import GeoJSON
import Glibc
import JSON
import Rendering
import ShardedBuild
import SystemSupport

/// `clusterctl build`: the image of a source of any size, without a daemon.
enum BuildCommand: Subcommand {
    static let table = Command(
        "build", summary: "Build the image of a source of any size, out of core",
        details: [
            "The image is the file that a daemon serves: 'load' attaches it in milliseconds, and so does a declared "
                + "source with \"image\". Answers are those of a daemon that imports the same files with the same options.",
            "Work goes through files in the temporary directory, so memory only changes the speed. Each step "
                + "is a process that takes the memory given and at most 256 MiB more. A build that was ended goes on with --resume.",
            "The options need \"clusterIds\": \"origin\" and a \"sortKey\": an order unrelated to place, such as "
                + "[\"hash\",[\"id\"]], is built fastest.",
        ],
        operands: [
            Operand("OUT", kind: .file, help: "the image, such as places.clusterd"),
            Operand("INPUT", kind: .file, count: .any, help: "the files, in the order in which they are imported"),
        ],
        options: [
            Option(
                "memory", short: "m", value: "SIZE", default: "4G",
                help: "the memory of each process, such as 512M or 4G; 64M at least"),
            Option(
                "temporary", value: "DIR", kind: .directory, defaultInWords: "OUT.build",
                help: "a directory for temporary files, which is made, and removed at the end"),
            Option(
                "workers", short: "w", value: "N", kind: .integer(1...1024), defaultInWords: "as many as processors",
                help: "how many processes cluster at the same time"),
            Option(
                "shards", value: "N", kind: .integer(1...100_000), defaultInWords: "as many as the memory needs",
                help: "in how many parts a level is cut at least"),
            Option(
                "archive", value: "FILE", kind: .file, defaultInWords: "none",
                help: "also write all tiles into this PMTiles archive"),
            Option(
                "name", value: "NAME", defaultInWords: "the archive's, without its ending",
                help: "the layer's name in the archive"),
            .flag("resume", help: "go on where an earlier build of the same inputs was ended"),
            .flag(
                "engine",
                help:
                    "hand the steps to the program that started this one: lists of them are lines of JSON on standard "
                    + "output, and its answers lines on standard input"),
            .flag("overwrite", help: "replace an existing image or archive"),
            .flag("skip-invalid", short: "k", help: "leave invalid features out and count them by reason"),
            .param(.onInvalid),
        ] + ImportFlags.readingOptions + ForeignFile.options + SourceOptionFlags.options,
        examples: [
            Example(
                "clusterctl build places.clusterd places.geojsonl --options "
                    + "'{\"clusterIds\":\"origin\",\"sortKey\":[\"hash\",[\"id\"]]}'",
                "builds an image"),
            Example(
                "clusterctl build world.clusterd part-*.csv --memory 2G --workers 4 --temporary /scratch/world "
                    + "--options @options.json --resume",
                "goes on with a build in another directory"),
        ])

    static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let output = try invocation.operand(0)
        let paths = arguments.operands.dropFirst()
        guard !paths.isEmpty else { throw arguments.usageError("missing operand: the files to build it of") }
        let archive = arguments.string("archive")
        try await BuiltArchive.check(archive, arguments)
        var settings = BuildSettings(
            inputs: try paths.map { try InputFile.input($0, arguments) },
            options: .object(try SourceOptionFlags.read(invocation)), output: SmallFile.absolute(output),
            temporary: SmallFile.absolute(arguments.string("temporary") ?? output + ".build"))
        settings.memory = try memory(arguments)
        settings.workers = arguments.string("workers").flatMap { Int($0) } ?? AvailableProcessors.count
        settings.shards = arguments.string("shards").flatMap { Int($0) }
        let reading = try ImportFlags.importOptions(arguments)
        settings.policy = reading.skipsInvalid ? .skip : .reject
        settings.format = FeatureFormat(table: reading.columns)
        settings.wrapsLongitudes = reading.wrapsLongitudes
        settings.resumes = arguments.has("resume")
        settings.overwrites = arguments.has("overwrite")
        let summary: BuildSummary
        var bar = ProgressBar(output, total: nil)
        do throws(BuildError) {
            summary = try ShardedBuild(settings, runner: try runner(settings, arguments)) { bar.show(line(of: $0)) }
                .run()
        } catch {
            bar.clear()
            throw Failure(
                message: error.description, status: error.isRefusal ? ExitStatus.refused : ExitStatus.failed)
        }
        bar.clear()
        let isEngine = arguments.has("engine")
        if !isEngine { show(summary, output, invocation) }
        if let archive { try await BuiltArchive.write(archive, of: settings.output, invocation, isQuiet: isEngine) }
        if isEngine { try EngineSteps.write(.object(["summary": json(summary, output)])) }
    }

    private static func runner(
        _ settings: BuildSettings, _ arguments: ParsedArguments
    ) throws(BuildError) -> any StepRunner {
        if arguments.has("engine") { return EngineSteps() }
        do throws(Failure) { return try ChildSteps(BuildStepCommand.table.name, workers: settings.workers) } catch {
            throw BuildError(error.message)
        }
    }

    private static func line(of progress: BuildProgress) -> String {
        switch progress.stage {
        case .reading: "reading, in \(Quantity.count(Int(progress.detail) ?? 0, "part"))"
        case .ordering: "sorting \(Quantity.grouped(Int(progress.detail) ?? 0)) points"
        case .clustering: "clustering \(progress.detail)"
        case .assembling: "writing the image"
        }
    }

    /// The value of `--memory` in bytes.
    private static func memory(_ arguments: ParsedArguments) throws -> Int {
        let text = arguments.string("memory") ?? "4G"
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        var digits = text.uppercased()
        if digits.hasSuffix("IB") { digits.removeLast(2) }
        let unit = digits.last.flatMap { units[$0] }
        if unit != nil { digits.removeLast() }
        guard let number = Int(digits), number > 0, number < 1 << 20 || unit == nil else {
            throw arguments.usageError(
                "invalid argument '\(text)' for '--memory': a size such as 512M or 4G is expected")
        }
        let bytes = number * (unit ?? 1)
        guard bytes >= BuildSettings.leastMemory else {
            throw arguments.usageError("invalid argument '\(text)' for '--memory': 64M is the least")
        }
        return bytes
    }

    private static func show(_ summary: BuildSummary, _ output: String, _ invocation: Invocation) {
        invocation.show(json(summary, output)) {
            var line = "\(output): \(Quantity.count(summary.points, "point")), "
            line += "\(Quantity.count(summary.clusters, "cluster")), \(Quantity.bytes(Double(summary.bytes)))"
            let skipped = summary.skippedReasons.values.reduce(0, +)
            if skipped > 0 {
                let reasons = summary.skippedReasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                line += "; \(Quantity.grouped(skipped)) skipped (\(reasons.joined(separator: ", ")))"
            }
            invocation.print(line)
            var table = Table([
                .text("ZOOMS"), .number("NODES"), .number("PARTS"), .number("COPIES"), .number("OPEN"),
                .number("ROUNDS"), .number("EXCHANGED"), .number("SECONDS"),
            ])
            for group in summary.groups {
                table.add([
                    "\(group.zooms.upperBound) to \(group.zooms.lowerBound)", Quantity.grouped(group.nodes),
                    Quantity.grouped(group.parts), Quantity.grouped(group.copies), Quantity.grouped(group.open),
                    String(group.rounds), Quantity.bytes(Double(group.bytes)),
                    Quantity.fixed(group.seconds, decimals: 1),
                ])
            }
            invocation.print(table)
        }
    }

    private static func json(_ summary: BuildSummary, _ output: String) -> JSONValue {
        let reasons = summary.skippedReasons.sorted { $0.key < $1.key }
        return .object([
            "path": .string(output), "points": .number(Double(summary.points)),
            "clusters": .number(Double(summary.clusters)), "bytes": .number(Double(summary.bytes)),
            "accepted": .number(Double(summary.accepted)),
            "skipped": .number(Double(reasons.reduce(0) { $0 + $1.value })),
            "skippedReasons": .object(JSONObject(reasons.map { ($0.key, .number(Double($0.value))) })),
            "groups": .array(summary.groups.map(\.json)),
        ])
    }
}

/// `clusterctl build-step`: one step of a build, for the programs that run builds.
enum BuildStepCommand: Subcommand {
    static let table = Command(
        "build-step", summary: "Run one step of a build, from files to files",
        details: [
            "A step gives the same files however often and wherever it runs, also twice at the same time. 'build' runs "
                + "many of them; with --engine, another program does."
        ],
        operands: [Operand("STEP", help: "the step as JSON, or @FILE to read it, or @- for standard input")],
        examples: [Example("clusterctl build-step @step.json", "runs a step")])

    static func run(_ invocation: Invocation) async throws {
        var text = try invocation.operand(0)
        if text.hasPrefix("@") { text = try SmallFile.read(String(text.dropFirst())) }
        guard let value = try? JSONReader.parse(text),
            let step = StepReading.step(value, opening: { InputFile.input($0, words: $1) })
        else {
            throw invocation.arguments.usageError("invalid operand: a step of a build is expected")
        }
        do throws(BuildError) { try step.run() } catch {
            throw Failure(
                message: error.description, status: error.isRefusal ? ExitStatus.refused : ExitStatus.failed)
        }
    }
}
