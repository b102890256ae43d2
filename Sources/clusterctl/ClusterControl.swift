// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import Rendering

/// The program: parses the command line, runs the subcommand, and reports errors by message and exit status.
///
/// Exit statuses are those of `ExitStatus`. The reason goes to standard error.
@main
enum ClusterControl {
    static let version = Release.version

    static func main() async {
        // A closed pipe must be an error of write(2), not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Launch.parseOrExit(CommandTable.root, version: version)
        guard let command = CommandTable.subcommands.first(where: { $0.table.name == arguments.subcommand })
        else {
            Launch.exitWithUsageError(arguments.usageError("missing command"))
        }
        do {
            let invocation = Invocation(arguments: arguments)
            if invocation.form == .geojson, !command.hasFeatures {
                throw arguments.usageError("the answer has no features: '--output geojson' cannot be used")
            }
            try await command.run(invocation)
        } catch let error as UsageError {
            Launch.exitWithUsageError(error)
        } catch let failure as Failure {
            if let picture = failure.picture { Terminal.writeError(picture + "\n") }
            if !failure.message.isEmpty { complain(failure.message) }
            exit(failure.status)
        } catch {
            // `call` speaks of methods and params, as its users do.
            let message = describe(error)
            complain(arguments.subcommand == CallCommand.table.name ? message : DaemonMessage.text(message))
            exit(ExitStatus.of(error))
        }
    }

    private static func complain(_ message: String) {
        Terminal.writeError(Terminal.errorStyle.red("clusterctl:") + " \(PrintableText.of(message))\n")
    }

    private static func describe(_ error: any Error) -> String {
        guard let error = error as? RPCError else { return "\(error)" }
        return switch error.code {
        case .unavailable, .permissionDenied, .invalidArgument, .notFound, .alreadyExists: error.message
        case .deadlineExceeded:
            "no answer within the time that --timeout allows; allow more, or ask for less"
        default: "\(error.message) (\(error.code.name))"
        }
    }
}

/// The program's exit statuses for scripts.
enum ExitStatus {
    static let failed: Int32 = 1
    /// The command line is wrong.
    static let usage: Int32 = 2
    /// There is no such source, cluster or feature.
    static let notFound: Int32 = 3
    /// No daemon answers.
    static let unavailable: Int32 = 4
    /// The daemon rejected the request: it is not allowed, not valid, or not possible in its present state.
    static let refused: Int32 = 5

    static func of(_ error: any Error) -> Int32 {
        guard let error = error as? RPCError else { return failed }
        return switch error.code {
        case .notFound: notFound
        case .unavailable: unavailable
        case .permissionDenied, .unauthenticated, .invalidArgument, .alreadyExists, .failedPrecondition,
            .aborted, .outOfRange, .resourceExhausted, .unimplemented:
            refused
        default: failed
        }
    }

    /// The section of the help and the manual.
    static let help =
        "The exit status is 0 if it is done, 2 if the command line is invalid, 3 if there is no such source, cluster or "
        + "feature, 4 if no daemon answers, 5 if the daemon refuses, and 1 for everything else."
}

/// A command that has failed. The message is empty if the output already says why.
struct Failure: Error {
    let message: String
    /// Lines to show before the message, such as an expression with a part underlined.
    var picture: String?
    var status = ExitStatus.failed
}
