// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import Glibc
import Rendering

/// The program: parses the command line, runs the subcommand, and reports errors by message and exit status.
///
/// Exit statuses are those of `ExitStatus`. The reason goes to standard error.
@main enum ClusterControl {
    static func main() async {
        // A closed pipe must be an error of write(2), not a signal that ends the process.
        signal(SIGPIPE, SIG_IGN)
        // So must a file that is larger than allowed.
        signal(SIGXFSZ, SIG_IGN)
        let arguments = Launch.parseOrExit(CommandTable.root, version: Release.version)
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
