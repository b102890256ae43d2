// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import JSON
import Rendering

/// Features from a file into a source.
enum FileImport {
    /// Opens a file, an address of HTTP, or standard input if the path is `-`. GDAL reads the formats that this program cannot.
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
