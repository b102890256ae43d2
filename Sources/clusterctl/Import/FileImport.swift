// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON
import Rendering

/// Features from a file into a source.
enum FileImport {
    /// Opens a file, an address of HTTP, or standard input if the path is `-`. GDAL reads the formats that this program
    /// cannot.
    static func open(_ path: String, _ arguments: ParsedArguments) throws -> FeatureInput {
        if path == "-" { return FeatureInput(descriptor: STDIN_FILENO, name: "standard input") }
        if let remote = RemoteFile(path) {
            guard ForeignFile.isForeign(remote.name, arguments) else { return try remote.open() }
            throw Failure(message: "\(path) is in a format that needs a file: download it first")
        }
        if ForeignFile.isForeign(path, arguments) { return try ForeignFile.open(path, arguments) }
        return try FeatureInput(path: path)
    }

    /// Sends a file's features to a source, and shows the progress.
    static func transfer(
        _ input: consuming FeatureInput, to source: String, _ options: ImportOptions, _ client: Client,
        _ invocation: Invocation
    ) async throws -> Answer {
        var bar = ProgressBar(source, total: input.length)
        defer { bar.clear() }
        return try await client.importFeatures(
            input, into: source, options: options, call: invocation.callOptions
        ) { progress in
            if progress.isSent {
                bar.show("\(Quantity.grouped(progress.features)) features sent; building the index…")
            } else {
                bar.update(bytes: progress.bytesRead, features: progress.features)
            }
        }
    }

    /// An import's error with the file's name.
    static func explained(_ error: any Error, file: String) -> any Error {
        switch error {
        case let error as FeatureTextError:
            return refusal("\(error)", file, isOfFeature: error.isOfFeatures)
        case let error as RPCError where error.code == .invalidArgument:
            return refusal(error.message, file, isOfFeature: error.details?["index"] != nil)
        default: return error
        }
    }

    /// What is wrong with the features of a file, without a full stop; nil if the error is of another kind.
    static func reason(_ error: any Error) -> String? {
        switch error {
        case let error as FeatureTextError: clause(DaemonMessage.text("\(error)"))
        case let error as RPCError where error.code == .invalidArgument:
            clause(DaemonMessage.text(error.message))
        default: nil
        }
    }

    /// With the status that a refusal by the daemon has, whichever program has read the features.
    private static func refusal(_ message: String, _ file: String, isOfFeature: Bool) -> Failure {
        let advice = isOfFeature ? " (--skip-invalid leaves invalid features out)" : ""
        return Failure(
            message: "\(file): \(clause(DaemonMessage.text(message))); nothing was imported\(advice)",
            status: ExitStatus.refused)
    }

    /// A sentence without its full stop, since more text follows.
    private static func clause(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}

/// The report of a finished import.
enum ImportReport {
    static func show(_ answer: Answer, _ invocation: Invocation) throws {
        try invocation.show(answer) { value in
            let source = try SourceDescription(value)
            var line = "\(source.name): \(Quantity.count(value["accepted"]?.asInteger ?? 0, "feature")) imported"
            if let skipped = value["skipped"]?.asInteger, skipped > 0 {
                line += ", \(Quantity.grouped(skipped)) skipped"
                let reasons = value["skippedReasons"]?.asObject?.members ?? []
                if !reasons.isEmpty {
                    line += " (" + reasons.map { "\($0.key): \($0.value.text)" }.joined(separator: ", ") + ")"
                }
            }
            line += "; \(Quantity.count(source.points, "point")), revision \(source.revision)"
            line += ", index built in \(Quantity.duration(milliseconds: source.buildMilliseconds))"
            line += ", \(Quantity.bytes(Double(source.memoryBytes)))"
            invocation.print(line)
        }
        try showWarnings(of: answer, invocation)
    }

    /// Shows an answer's advice on standard error.
    static func showWarnings(of answer: Answer, _ invocation: Invocation) throws {
        for warning in try answer.value()["warnings"]?.asArray ?? [] {
            invocation.warn(DaemonMessage.text(warning.asString ?? warning.text))
        }
    }
}

/// Makes sure that a source exists with the requested options before an import.
enum SourcePreparation {
    /// What was done, so that a failed import can undo it.
    enum Outcome {
        case existed, created

        /// Throws if an import has left the source that was created for it empty: a failed download and a table of
        /// which only the header was saved are more likely than a wish for an empty source.
        func check(_ answer: Answer, of file: String, _ arguments: ParsedArguments) throws {
            guard self == .created, !arguments.has("append"), !arguments.has("allow-empty") else { return }
            let value = try answer.value()
            guard value["accepted"]?.asInteger == 0, (value["skipped"]?.asInteger ?? 0) == 0 else { return }
            throw Failure(
                message: "\(file): it has no features, so nothing was imported (--allow-empty makes an empty source)",
                status: ExitStatus.refused)
        }
    }

    static func prepare(_ source: String, options: JSONObject, _ client: Client) async throws -> Outcome {
        do {
            try await client.createSource(source, options: options)
            return .created
        } catch let error as RPCError where error.code == .alreadyExists {
            if !options.isEmpty { try await change(source, options, client) }
            return .existed
        }
    }

    /// Sets the given options and keeps the others. Does nothing if all have these values.
    private static func change(_ source: String, _ options: JSONObject, _ client: Client) async throws {
        let present = try await client.source(source).options
        let wanted = present.with(options)
        guard wanted != present else { return }
        _ = try await client.call(
            "SourceService/UpdateOptions", ["source": .string(source), "options": .object(wanted)])
    }
}

/// A file that a daemon of the same user can read itself, in parallel: not a pipe, not standard input, and
/// not one that GDAL must convert first.
struct RegularFile {
    /// Absolute, without links.
    let path: String
    let bytes: Int

    var directory: String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        return parts.count > 1 ? parts.joined(separator: "/") : "/"
    }

    /// Nil if the file is of another kind, or cannot be read.
    init?(_ path: String, _ arguments: ParsedArguments) {
        guard path != "-", !ForeignFile.isForeign(path, arguments), let resolved = realpath(path, nil) else {
            return nil
        }
        defer { free(resolved) }
        var status = stat()
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG, access(resolved, R_OK) == 0
        else { return nil }
        self.path = String(cString: resolved)
        bytes = Int(status.st_size)
    }
}
